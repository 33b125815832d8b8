# SPDX-License-Identifier: BSD-2-Clause
"""Rows like those of the C++ benchmarks (measure.h)."""

import statistics


def heading():
    print(f'{"median (quartiles)":55} {"tracectl":53}reach')


def row(name, times, reach_ms=None):
    """The median and the quartiles of times in seconds, printed in ms; and the bound."""
    first, median, third = (f'{1000 * time_s:.0f}' for time_s in statistics.quantiles(times, n=4))
    reach = '' if reach_ms is None else \
        f'<= {reach_ms}  {"met" if float(median) <= reach_ms else "MISSED"}'
    print(f'{name:55} {f"{median} ({first}-{third})":53}{reach}'.rstrip(), flush=True)
