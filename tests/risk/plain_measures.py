"""The measures as plain loops over records, to compare with; nothing of the package is used."""


def plain(original, synthetic, keys, target):
    """Attribution and identity measures in per cent, by their definitions."""

    def rows(frame):
        texts = frame.astype(object).where(frame.notna(), "missing")
        return [(tuple(row[:-1]), row[-1]) for row in texts[[*keys, target]].to_numpy().tolist()]

    d, s = rows(original), rows(synthetic)

    def levels(data, q):
        return [t for other, t in data if other == q]

    def mean(values, of):
        return 100 * sum(values) / of

    n, m = len(d), len(s)
    dq = {q: levels(d, q) for q, _ in d + s}
    sq = {q: levels(s, q) for q, _ in d + s}
    found = {
        "UiO": mean([len(dq[q]) == 1 for q, _ in d], n),
        "UiS": mean([len(sq[q]) == 1 for q, _ in s], m),
        "UiOiS": mean([len(dq[q]) == 1 and len(sq[q]) > 0 for q, _ in d], n),
        "repU": mean([len(dq[q]) == 1 and len(sq[q]) == 1 for q, _ in d], n),
        "Dorig": mean([len(set(dq[q])) == 1 for q, _ in d], n),
        "Dsyn": mean([len(set(sq[q])) == 1 for q, _ in s], m),
        "iS": mean([len(sq[q]) > 0 for q, _ in d], n),
        "DiS": mean([len(set(sq[q])) == 1 for q, _ in d], n),
        "DiSCO": mean([set(sq[q]) == {t} for q, t in d], n),
        "DiSDiO": mean([set(sq[q]) == {t} and set(dq[q]) == {t} for q, t in d], n),
        "baseCAPd": mean([sum(t == u for _, u in d) / n for _, t in d], n),
        "CAPd": mean([dq[q].count(t) / len(dq[q]) for q, t in d], n),
        "CAPs": mean([sq[q].count(t) / len(sq[q]) for q, t in s], m),
        "DCAP": mean([sq[q].count(t) / len(sq[q]) if sq[q] else 0 for q, t in d], n),
    }
    for name, of in (("all", 100.0), ("matched", found["iS"]), ("disclosive", found["DiS"])):
        found[f"TCAP over {name}"] = 100 * found["DiSCO"] / of if of else float("nan")
    return found
