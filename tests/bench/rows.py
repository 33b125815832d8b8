# SPDX-License-Identifier: BSD-2-Clause
"""Rows as those of the benchmarks in C++ (measure.h)."""

import statistics


def heading():
    print(f'{"median (quartiles)":55} {"tracectl":53}reach')


def row(name, times, reach_ms=None):
    """Of times in seconds the median and the quartiles in ms; and what is to be reached."""
    first, median, third = (f'{1000 * time_s:.0f}' for time_s in statistics.quantiles(times, n=4))
    reach = '' if reach_ms is None else \
        f'<= {reach_ms}  {"met" if float(median) <= reach_ms else "MISSED"}'
    print(f'{name:55} {f"{median} ({first}-{third})":53}{reach}'.rstrip(), flush=True)
