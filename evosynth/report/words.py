"""What figures are called in print."""

from __future__ import annotations

FORMS = {
    "coefficient": "Coefficient",
    "ratio": "Odds ratio",
    "se": "Standard error",
    "statistic": "z",
    "p": "p",
    "low": "Lower end",
    "high": "Upper end",
    "beta": "Beta",
}
"""Figures of a term of a model, in the order of columns."""

FIT = {
    "observations": "Records",
    "log_likelihood": "Log-likelihood",
    "null_log_likelihood": "Log-likelihood without terms",
    "pseudo_r_squared": "Pseudo R² (McFadden)",
    "aic": "AIC",
    "bic": "BIC",
    "deviance": "Deviance",
    "null_deviance": "Deviance without terms",
    "lr_chi_square": "Likelihood ratio χ²",
    "lr_p_value": "p of the likelihood ratio",
    "r_squared": "R²",
    "adjusted_r_squared": "Adjusted R²",
    "f": "F",
    "f_p_value": "p of F",
    "rmse": "Root mean squared error",
}

STATISTICS = {
    "n": "N",
    "mean": "Mean",
    "sd": "SD",
    "variance": "Variance",
    "standard_error": "Standard error",
    "median": "Median",
    "iqr": "IQR",
    "min": "Min",
    "max": "Max",
    "sum": "Sum",
    "skewness": "Skewness",
    "kurtosis": "Kurtosis",
    "quantile": "{} % quantile",
    "above": "% above {}",
    "below": "% below {}",
}

TESTS = {
    "statistic": "χ²",
    "df": "Degrees of freedom",
    "p": "p",
    "cramers_v": "Cramér’s V",
    "t": "t",
    "difference": "Difference of means",
    "f": "F",
    "eta_squared": "η²",
    "odds_ratio": "Odds ratio",
    "odds_ratio_ci low": "Odds ratio, lower end",
    "odds_ratio_ci high": "Odds ratio, upper end",
    "risk_ratio": "Risk ratio",
    "risk_ratio_ci low": "Risk ratio, lower end",
    "risk_ratio_ci high": "Risk ratio, upper end",
}

KINDS = {
    "frequencies": "Frequencies",
    "crosstab": "Cross-tabulation",
    "summary": "Descriptives",
    "correlation": "Correlations",
    "chi_square": "Chi-square test",
    "t_test": "t test",
    "anova": "Analysis of variance",
    "odds_ratio": "Odds and risk ratios",
    "logit": "Logistic regression",
    "probit": "Probit regression",
    "poisson": "Poisson regression",
    "negative_binomial": "Negative binomial regression",
    "multinomial": "Multinomial logit",
    "ordered": "Ordered logit",
    "ols": "Linear regression",
    "wls": "Weighted linear regression",
    "quantile": "Quantile regression",
}


def kind(name: str) -> str:
    """Say what kind of output it is."""
    return KINDS.get(name, name.replace("_", " ").capitalize())
