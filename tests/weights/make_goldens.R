# Makes the goldens of the tests of weights with R's survey package:
#   cd tests/weights && Rscript make_goldens.R
# `sample.csv` is written by make_sample.py.
library(survey)
data <- read.csv("sample.csv")
data$SEX <- factor(data$SEX); data$REGION <- factor(data$REGION); data$EDUC <- factor(data$EDUC)
design <- svydesign(ids = ~1, weights = ~D, data = data)
sex <- data.frame(SEX = c("1", "2"), Freq = c(21000, 22500))
region <- data.frame(REGION = c("1", "2", "3"), Freq = c(12000, 14500, 17000))
both <- data.frame(
  SEX = rep(c("1", "2"), 3), REGION = rep(c("1", "2", "3"), each = 2),
  Freq = c(5800, 6200, 7000, 7500, 8200, 8800)
)
totals <- c("(Intercept)" = 43500, SEX2 = 22500, REGION2 = 14500, REGION3 = 17000, INCOME = 43500 * 520)
tight <- function(method, ...) {
  calibrate(design, ~ SEX + REGION + INCOME, totals, calfun = method, epsilon = 1e-12, maxit = 500, ...)
}
weights <- data.frame(
  rake = weights(rake(design, list(~SEX, ~REGION), list(sex, region),
    control = list(epsilon = 1e-11, maxit = 500))),
  rake_crossed = weights(rake(design, list(~ SEX + REGION, ~EDUC),
    list(both, data.frame(EDUC = c("1", "2", "3"), Freq = c(13500, 16000, 14000))),
    control = list(epsilon = 1e-11, maxit = 500))),
  raking = weights(tight("raking")),
  linear = weights(tight("linear")),
  logit = weights(tight("logit", bounds = c(0.4, 2.5))),
  truncated = weights(tight("linear", bounds = c(0.75, 1.35)))
)
write.csv(format(weights, digits = 15, trim = TRUE), "survey_weights.csv", row.names = FALSE, quote = FALSE)

# Estimates under the design weights.
found <- list()
note <- function(name, value, error) {
  found[[length(found) + 1]] <<- data.frame(estimate = name, value = unname(value), error = unname(error))
}
means <- svymean(~INCOME, design)
note("mean INCOME", coef(means), SE(means))
by <- svyby(~INCOME, ~SEX, design, svymean)
for (i in 1:2) note(paste0("mean INCOME SEX=", i), by$INCOME[i], by$se[i])
note("sum INCOME", coef(svytotal(~INCOME, design)), NA)
note("sd INCOME", sqrt(coef(svyvar(~INCOME, design))), NA)
shares <- svymean(~EDUC, design)
for (i in 1:3) note(paste0("share EDUC=", i), coef(shares)[i], NA)
table <- prop.table(svytable(~ SEX + EDUC, design), 1)
for (i in 1:2) for (j in 1:3) note(paste0("row SEX=", i, " EDUC=", j), table[i, j], NA)
linear <- svyglm(INCOME ~ AGE + SEX + EDUC, design)
for (name in names(coef(linear))) note(paste("ols", name), coef(linear)[name], SE(linear)[name])
logit <- svyglm(SMOKE ~ AGE + SEX + EDUC, design, family = quasibinomial())
for (name in names(coef(logit))) note(paste("logit", name), coef(logit)[name], SE(logit)[name])
estimates <- do.call(rbind, found)
estimates$value <- format(estimates$value, digits = 15, trim = TRUE)
estimates$error <- format(estimates$error, digits = 15, trim = TRUE)
write.csv(estimates, "survey_estimates.csv", row.names = FALSE, quote = FALSE)
