# SPDX-License-Identifier: BSD-2-Clause
"""Grafana's dashboard, packaging/grafana: its structure is that of Grafana's schema (grafana.schema.json), and a real
Prometheus, which scrapes the real exporter, has what its queries ask for."""

import copy
import json
import re
import unittest

import jsonschema
import prometheus_test
import support

DASHBOARD = json.loads((support.ROOT / 'packaging/grafana/tracectl.json').read_text())
SCHEMA = json.loads((support.ROOT / 'tests/e2e/grafana.schema.json').read_text())
# As Grafana replaces them; not `.*`, which a label would match that does not exist.
VARIABLES = {'$__rate_interval': '1m', '$session': '.+', '$probe': '.+'}


def panels():
    return [panel for panel in DASHBOARD['panels'] if panel['type'] != 'row']


def queries():
    """Pairs of an expression and the labels that its result must have."""
    for panel in panels():
        for target in panel['targets']:
            expression, labels = target['expr'], set(re.findall(r'{{(\w+)}}', target['legendFormat']))
            for grouped in re.findall(r'\bby \(([^)]*)\)', expression):
                labels |= set(grouped.split(', '))
            if 'histogram_quantile' in expression:
                labels.discard('le')
            yield expression, labels
    for variable in DASHBOARD['templating']['list']:
        if variable['type'] == 'query':
            series, label = re.fullmatch(r'label_values\((.*), (\w+)\)', variable['query']['query']).groups()
            yield series, {label}


class Structure(unittest.TestCase):
    def faults(self, dashboard):
        return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(dashboard)]

    def test_it_is_that_of_the_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.assertEqual(self.faults(DASHBOARD), [])

    def test_the_schema_refuses_what_grafana_does_not_know(self):
        for path, value in ((('titel',), 'x'), (('schemaVersion',), '38'), (('panels', 1, 'type'), ''),
                            (('panels', 1, 'gridPos', 'w'), 25), (('panels', 1, 'targets', 0, 'query'), 'up'),
                            (('panels', 1, 'datasource'), 'Prometheus'), (('panels', 0, 'targets'), []),
                            (('templating', 'list', 1, 'type'), 'label')):
            with self.subTest(path=path):
                changed = copy.deepcopy(DASHBOARD)
                inside = changed
                for step in path[:-1]:
                    inside = inside[step]
                inside[path[-1]] = value
                self.assertEqual(len(self.faults(changed)), 1, self.faults(changed))

    def test_no_two_panels_have_one_number_or_one_place(self):
        numbers = [panel['id'] for panel in DASHBOARD['panels']]
        self.assertEqual(len(set(numbers)), len(numbers))
        taken = set()
        for panel in DASHBOARD['panels']:
            at = panel['gridPos']
            self.assertLessEqual(at['x'] + at['w'], 24, panel['title'])
            cells = {(x, y) for x in range(at['x'], at['x'] + at['w']) for y in range(at['y'], at['y'] + at['h'])}
            self.assertFalse(cells & taken, panel['title'])
            taken |= cells

    def test_every_variable_is_used_and_there(self):
        used = set(re.findall(r'\$\{?(\w+)', json.dumps(DASHBOARD['panels']))) - {'__rate_interval'}
        self.assertEqual(used, {variable['name'] for variable in DASHBOARD['templating']['list']})


@support.needs_root
class Queries(prometheus_test.Scraped):
    def test_prometheus_has_what_they_ask_for(self):
        program = self.program('hot')
        self.session('web-counts', program, 'count, sum(arg0), min(arg0), avg(arg0), max(arg0)')
        self.session('web-hist', program, 'hist(arg0)')
        self.session('web-time', program, 'time')
        self.session('web-unread', program, 'sum(u64(arg0))')
        calls = self.program('calls', '10')
        self.session('calls', calls, 'time', 'u::calls_throw')
        calls.send('go')
        calls.result()
        address = self.prometheus(self.exporter('--session', '*'))
        for _ in range(2):  # a rate needs two scrapes
            self.call(program, 1000)
            self.wait_for_a_scrape(address)
        for expression, labels in queries():
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            with self.subTest(expression=expression):
                found = self.query(address, expression)
                self.assertGreater(len(found), 0)
                for result in found:
                    self.assertLessEqual(labels, set(dict(result)))


if __name__ == '__main__':
    unittest.main()
