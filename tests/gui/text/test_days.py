from datetime import date

from gui.text.formatting import long_date, month_and_year, short_date, weekday, weekday_and_date, weekday_and_day

DAY = date(2026, 2, 8)


def test_dates_have_their_english_forms():
    assert short_date(DAY) == "8 Feb 2026"
    assert long_date(DAY) == "8 February 2026"
    assert weekday(DAY) == "Sunday"
    assert weekday_and_day(DAY) == "Sunday 8 February"
    assert weekday_and_date(DAY) == "Sunday 8 February 2026"
    assert month_and_year(DAY) == "February 2026"
    assert short_date(date(2026, 12, 31)) == "31 Dec 2026"
