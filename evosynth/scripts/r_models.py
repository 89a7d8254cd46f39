"""Models in the starter script in R."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evosynth.analysis import Fitting
from evosynth.design import Column
from evosynth.schema import Schema
from evosynth.scripts.r_text import quoted, value
from evosynth.scripts.text import line

if TYPE_CHECKING:
    from evosynth.model_items import Item

_SETTLE = """
# Newton's method from a start; the covariance rests on the observed information
settle <- function(b, scores) {
  for (round in 1:50) {
    change <- function(j) {
      step <- 1e-5 * max(1, abs(b[j])); up <- b; down <- b
      up[j] <- b[j] + step; down[j] <- b[j] - step
      (colSums(scores(up)) - colSums(scores(down))) / (2 * step)
    }
    hessian <- sapply(seq_along(b), change)
    v <- solve(-(hessian + t(hessian)) / 2, tol = 1e-30)
    move <- as.vector(v %*% colSums(scores(b)))
    b <- b + move
    if (max(abs(move) / sqrt(diag(v))) < 1e-9) break
  }
  list(b = b, v = v, s = scores(b))
}
"""
_SPREAD = """
spread <- function(v, w) sqrt(weighted.mean((v - weighted.mean(v, w))^2, w))
"""
_SETTLED = {"probit", "negative_binomial", "multinomial", "ordered"}


def tools(families: set[str]) -> str:
    """Functions that the models of a script need."""
    found = _SPREAD if families & {"ols", "wls"} else ""
    return found + (_SETTLE if families & _SETTLED else "")


def _column(column: Column, schema: Schema) -> str:
    parts = []
    for part in column.parts:
        name = part.factor.variable
        values = f"people[[{quoted(name)}]]"
        if part.level is not None:
            parts.append(f"({values} == {value(schema[name], schema[name].texts[part.level])})")
        elif part.factor.log:
            parts.append(f"log({values})")
        else:
            parts.append(values if part.factor.power == 1 else f"{values}^{part.factor.power}")
    return "as.numeric(" + " * ".join(parts) + ")" if parts else "1"


def fitting(analysis: Fitting, people: str, shown: list[str], schema: Schema) -> Iterator[str]:
    """Write the fit of a model and the lines that print its figures."""
    yield f"# {line(analysis.formula)}"
    yield f"people <- {people}"
    outcome = f"people[[{quoted(analysis.outcome)}]]"
    variable = schema[analysis.outcome]
    if analysis.family in {"logit", "probit"}:
        yield f"y <- as.numeric({outcome} == {value(variable, analysis.outcomes[0])})"
    elif analysis.family in {"multinomial", "ordered"}:
        order = ", ".join(value(variable, text) for text in analysis.outcomes)
        yield f"y <- match({outcome}, c({order}))  # in this order, counting from 1"
    else:
        found = f"as.numeric({outcome})"
        yield f"y <- log({found})" if analysis.log else f"y <- {found}"
    columns = [column for column in analysis.columns if column.parts]
    yield "x <- cbind("
    for position, column in enumerate(columns):
        comma = "," if position < len(columns) - 1 else ""
        yield f"  {quoted(column.name)} = {_column(column, schema)}{comma}"
    yield ")"
    yield f"n <- length(y); k <- {analysis.parameters}"
    if all(item.form == "observations" for item in analysis.items):
        yield from shown
        return
    fit = list(_fit(analysis))
    if analysis.family == "quantile":
        # R itself has no quantile regression.
        yield 'if (requireNamespace("quantreg", quietly = TRUE)) {'
        yield from (f"  {text}" for text in [*fit, *shown])
        yield "} else {"
        yield '  cat("This model needs the package quantreg: install.packages(\\"quantreg\\")\\n")'
        yield "}"
        return
    yield from fit
    yield from shown


_GLM = "control = list(epsilon = 1e-12, maxit = 100)"


def _fit(analysis: Fitting) -> Iterator[str]:
    family, robust = analysis.family, analysis.robust
    inflated = {"HC1": " * n / (n - k)", "stata": " * n / (n - 1)"}.get(robust or "", "")
    inflated = " * n / (n - 1)" if robust == "survey" else inflated
    weight = f"people[[{quoted(analysis.weight)}]]" if analysis.weight else ""
    extra = f"people[[{quoted(analysis.extra)}]]" if analysis.extra else ""
    offset = f" + offset(log({extra}))" if extra else ""
    if family in {"ols", "wls"}:
        yield f"w <- {extra or weight or 'rep(1, n)'}"
        yield "fit <- lm(y ~ x, weights = w)"
        yield "b <- coef(fit); v <- vcov(fit); df <- fit$df.residual"
        if robust is not None:
            yield "X <- cbind(1, x) * sqrt(w); e <- residuals(fit) * sqrt(w); h <- hatvalues(fit)"
            scaled = {"HC2": "e / sqrt(1 - h)", "HC3": "e / (1 - h)"}.get(robust, "e")
            factor = " * n / (n - k)" if robust in {"HC1", "stata"} else ""
            factor = inflated if robust == "survey" else factor
            yield "bread <- solve(crossprod(X))"
            yield f"v <- bread %*% crossprod(X * ({scaled})) %*% bread{factor}"
        yield "ll <- as.numeric(logLik(fit)); fitted <- summary(fit)"
        yield "se <- sqrt(diag(v)); tail <- function(t) 2 * pt(-abs(t), df)"
        yield f"reach <- qt({0.5 + analysis.level / 200:.10g}, df)"
        return
    if family == "quantile":
        yield f"fit <- suppressWarnings(quantreg::rq(y ~ x, tau = {analysis.quantile:.10g}))"
        yield "b <- coef(fit)"
        return
    if family in {"logit", "poisson"}:
        link = "binomial" if family == "logit" else "poisson"
        if weight:
            yield f"w <- {weight}"
            yield f"fit <- glm(y ~ x{offset}, quasi{link}, weights = w, {_GLM})"
            yield "b <- coef(fit); v <- summary(fit)$cov.unscaled"
            yield f"v <- v %*% crossprod(cbind(1, x) * w * (y - fitted(fit))) %*% v{inflated}"
            yield "se <- sqrt(diag(v)); tail <- function(z) 2 * pnorm(-abs(z))"
            yield f"reach <- qnorm({0.5 + analysis.level / 200:.10g})"
            return
        yield f"fit <- glm(y ~ x{offset}, {link}, {_GLM})"
        yield f"null <- glm(y ~ 1{offset}, {link}, {_GLM})"
        yield "b <- coef(fit); v <- vcov(fit)"
        yield "ll <- as.numeric(logLik(fit)); ll0 <- as.numeric(logLik(null))"
        yield "deviances <- c(deviance(fit), deviance(null))"
        scores = "cbind(1, x) * (y - fitted(fit))"
    else:
        yield from _settled(family, extra, offset)
        yield "b <- found$b; v <- found$v"
        scores = "found$s"
    if robust is not None:
        yield f"v <- v %*% crossprod({scores}) %*% v{inflated}"
    yield "se <- sqrt(diag(v)); tail <- function(z) 2 * pnorm(-abs(z))"
    yield f"reach <- qnorm({0.5 + analysis.level / 200:.10g})"


def _settled(family: str, extra: str, offset: str) -> Iterator[str]:
    """Write models whose standard errors R computes otherwise, or not to enough digits."""
    yield "X <- cbind(1, x)"
    if family == "probit":
        yield "# glm's standard errors rest on the expected information; here: the observed one"
        yield f'fit <- glm(y ~ x, binomial("probit"), {_GLM})'
        yield "side <- 2 * y - 1"
        yield "found <- settle(coef(fit), function(b) {"
        yield "  line <- side * as.vector(X %*% b)"
        yield "  X * side * exp(dnorm(line, log = TRUE) - pnorm(line, log.p = TRUE))"
        yield "})"
        yield "ll <- sum(pnorm(side * as.vector(X %*% found$b), log.p = TRUE))"
        yield "ll0 <- sum(y) * log(mean(y)) + sum(1 - y) * log(1 - mean(y))"
        yield "deviances <- c(-2 * ll, -2 * ll0)"
    elif family == "negative_binomial":
        yield "# MASS::glm.nb takes theta = 1 / alpha as known; here both are estimated together"
        yield f"exposure <- {extra or 'rep(1, n)'}"
        yield "nb_scores <- function(X) function(b) {"
        yield "  m <- exposure * exp(as.vector(X %*% b[-length(b)])); a <- b[length(b)]"
        yield "  by_alpha <- (log(1 + a * m) - digamma(y + 1 / a) + digamma(1 / a)) / a^2 +"
        yield "    (y - m) / (a * (1 + a * m))"
        yield "  cbind(X * (y - m) / (1 + a * m), by_alpha)"
        yield "}"
        yield "nb_ll <- function(b, X) sum(dnbinom(y, size = 1 / b[length(b)], log = TRUE,"
        yield "  mu = exposure * exp(as.vector(X %*% b[-length(b)]))))"
        yield "fit <- suppressWarnings(MASS::glm.nb(y ~ x + offset(log(exposure))))"
        yield "found <- settle(c(coef(fit), 1 / fit$theta), nb_scores(X))"
        yield "one <- matrix(1, n, 1)"
        yield "fit0 <- suppressWarnings(MASS::glm.nb(y ~ 1 + offset(log(exposure))))"
        yield "null <- settle(c(coef(fit0), 1 / fit0$theta), nb_scores(one))"
        yield "ll <- nb_ll(found$b, X); ll0 <- nb_ll(null$b, one)"
    elif family == "multinomial":
        yield "fit <- nnet::multinom(factor(y) ~ x, trace = FALSE, maxit = 1000, reltol = 1e-12)"
        yield "many <- max(y)"
        yield "shares <- function(b) {"
        yield "  line <- cbind(0, X %*% matrix(b, ncol(X))); exp(line) / rowSums(exp(line))"
        yield "}"
        yield "found <- settle(as.vector(t(coef(fit))), function(b) {"
        yield "  p <- shares(b)"
        yield "  do.call(cbind, lapply(2:many, function(m) X * ((y == m) - p[, m])))"
        yield "})"
        yield "ll <- sum(log(shares(found$b)[cbind(1:n, y)]))"
        yield "ll0 <- sum(log((table(y) / n)[as.character(y)]))"
    else:
        yield "fit <- MASS::polr(factor(y) ~ x, control = list(maxit = 1000, reltol = 1e-12))"
        yield "width <- ncol(x)"
        yield "ends <- function(b) {"
        yield "  line <- as.vector(x %*% b[1:width]); cuts <- c(-Inf, b[-(1:width)], Inf)"
        yield "  cbind(plogis(cuts[y + 1] - line), plogis(cuts[y] - line))"
        yield "}"
        yield "found <- settle(c(coef(fit), fit$zeta), function(b) {"
        yield "  p <- ends(b); d <- p * (1 - p) / (p[, 1] - p[, 2])"
        yield "  cut <- function(m) d[, 1] * (y == m) - d[, 2] * (y == m + 1)"
        yield "  by_cut <- sapply(seq_len(max(y) - 1), cut)"
        yield "  cbind(x * (d[, 2] - d[, 1]), by_cut)"
        yield "})"
        yield "p <- ends(found$b); ll <- sum(log(p[, 1] - p[, 2]))"
        yield "ll0 <- sum(log((table(y) / n)[as.character(y)]))"


_MEASURES = {
    "observations": "n",
    "log_likelihood": "ll",
    "null_log_likelihood": "ll0",
    "pseudo_r_squared": "1 - ll / ll0",
    "aic": "2 * k - 2 * ll",
    "bic": "k * log(n) - 2 * ll",
    "lr_chi_square": "2 * (ll - ll0)",
    "lr_p_value": "pchisq(2 * (ll - ll0), {df}, lower.tail = FALSE)",
    "deviance": "deviances[1]",
    "null_deviance": "deviances[2]",
    "r_squared": "fitted$r.squared",
    "adjusted_r_squared": "fitted$adj.r.squared",
    "f": "fitted$fstatistic[1]",
    "f_p_value": "pf(fitted$fstatistic[1], k - 1, n - k, lower.tail = FALSE)",
    "rmse": "fitted$sigma",
}


def figures(analysis: Fitting) -> list[str]:
    """Write the expression of every figure."""
    return [_figure(item, analysis) for item in analysis.items]


def _figure(item: Item, analysis: Fitting) -> str:
    if item.parameter is None:
        return _MEASURES[item.form].format(df=analysis.parameters - analysis.null)
    at = item.parameter + 1
    b, se = f"b[{at}]", f"se[{at}]"
    ends = {"low": f"{b} - reach * {se}", "high": f"{b} + reach * {se}"}
    if item.form in ends:
        return f"exp({ends[item.form]})" if analysis.ratios else ends[item.form]
    return {
        "coefficient": b,
        "ratio": f"exp({b})",
        "se": f"{se} * exp({b})" if analysis.ratio_errors else se,
        "statistic": f"{b} / {se}",
        "p": f"tail({b} / {se})",
        "beta": f"{b} * spread(cbind(1, x)[, {at}], w) / spread(y, w)",
    }[item.form]
