"""The report: one page that shows what was asked, what was reproduced, and how."""
