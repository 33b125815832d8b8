# SPDX-License-Identifier: BSD-2-Clause
"""The page of `report --html` in a browser: it shows the same as `show` and `report`, and reacts to its
users."""

import base64
import collections
import json
import os
import pathlib
import resource
import shutil
import signal
import tempfile
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import browser
import support
from record_test import CORPUS, HOT, NUMBERS, RecordTest

HITS = 3000
UNITS = {'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}

# The number of colours in a picture; the page's policy does not forbid a Blob.
COLOURS = '''
    const [text, tell] = arguments;
    const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
    createImageBitmap(new Blob([bytes])).then(image => {
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const {data} = context.getImageData(0, 0, image.width, image.height);
      const pixels = new Uint32Array(data.buffer);
      const counts = new Map();
      for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
      tell([...counts.values()].map(count => count / pixels.length));
    });'''


def nanoseconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def number(text):
    return int(text.replace(',', ''))


class PageTest(RecordTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.driver = cls.enterClassContext(browser.started())

    def setUp(self):
        super().setUp()
        self.page = str(self.directory / 'out.html')

    # ---- recordings ----

    def record_hits(self, program=None):
        program = program or self.program('hot')
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, *NUMBERS)
        self.call(program, HITS)
        self.end(verb)
        return program

    def record_calls(self):
        log = self.directory / 'log'
        program = self.program('graph_tree', '3', '20', str(log), '6000')
        verb = self.start(*self.through_daemon(), 'graph', 'tree_root', '-p', str(program.pid),
                          '-o', self.file)
        program.send('go')
        program.result()
        self.end(verb)
        return [item for item in self.shown()[0] if 'probe' in item]

    def write(self, *options, file=None):
        done = support.run('report', file or self.file, '--html', self.page, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, '')
        return done.stderr

    # ---- the page ----

    def open(self):
        browser.open_page(self.driver, self.page)

    def element(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def texts(self, css):
        return self.driver.execute_script(
            'return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)', css)

    def facts(self, css):
        return dict(zip(self.texts(css + ' dt'), self.texts(css + ' dd')))

    def rows(self, table):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map(row => "
            "[...row.cells].map(cell => (cell.querySelector('button') ?? cell).textContent))", table)

    def wait(self, condition):
        return browser.wait(self.driver, condition)

    def data(self, css, name):
        return self.driver.execute_script(
            'return document.querySelector(arguments[0]).dataset[arguments[1]]', css, name)

    def range(self):
        return [float(self.data('#timeline', end)) for end in ('from', 'to')]

    def span(self):
        begin, end = self.range()
        return end - begin

    def actions(self):
        return ActionChains(self.driver, duration=0)

    def at(self, css, x, y):
        """The offset of an element's pixel for the mouse: Selenium counts from the middle."""
        element = self.element(css)
        self.driver.execute_script('arguments[0].scrollIntoView({block: "center", '
                                   'behavior: "instant"})', element)
        size = element.size
        return element, x - int(size['width'] / 2), y - int(size['height'] / 2)

    def click_at(self, css, x, y):
        self.actions().move_to_element_with_offset(*self.at(css, x, y)).click().perform()

    def search(self, text, expected):
        field = self.element('#search-text')
        field.clear()
        field.send_keys(text)
        self.wait(lambda: self.data('#timeline', 'matches') == str(expected))


@support.needs_root
class Page(PageTest):
    def test_says_what_show_says(self):
        items = self.record_calls()
        self.write()
        self.open()
        facts = self.facts('#facts')
        self.assertEqual(number(facts['Events']), len(items))
        self.assertEqual(number(facts['Lost']), 0)
        self.assertEqual(number(facts['Threads']), 3)
        took = max(item['ts'] for item in items) - min(item['ts'] for item in items)
        self.assertAlmostEqual(nanoseconds(facts['Duration']) / took, 1, delta=0.01)
        by_probe = collections.Counter(item['probe'].split(':')[-1] for item in items)
        self.assertEqual({row[0]: number(row[1]) for row in self.rows('probes')}, by_probe)
        by_cpu = collections.Counter(str(item['cpu']) for item in items)
        self.assertEqual({cpu: number(events) for cpu, events in self.rows('cpus')}, by_cpu)
        self.assertEqual({int(row[1]) for row in self.rows('threads')},
                         {item['tid'] for item in items})

    def test_asks_nothing_of_a_network(self):
        self.record_calls()
        self.write()
        self.open()
        here = pathlib.Path(self.page).resolve().as_uri()
        self.assertEqual([url for url in browser.requests(self.driver) if url != here], [])
        self.assertEqual(self.driver.execute_script(
            "return performance.getEntriesByType('resource').length"), 0)
        self.assertEqual(self.driver.get_log('browser'), [])
        self.assertNotRegex(pathlib.Path(self.page).read_text(), r'https?:')

    def test_zooms_and_moves(self):
        self.record_calls()
        self.write()
        self.open()
        whole = self.range()
        self.element('#zoom-in').click()
        self.assertAlmostEqual(self.span(), (whole[1] - whole[0]) / 2, delta=1)
        begin = self.range()[0]
        self.element('#move-right').click()
        self.assertGreater(self.range()[0], begin)
        self.element('#lanes').send_keys('+')
        self.assertAlmostEqual(self.span(), (whole[1] - whole[0]) / 4, delta=1)
        begin = self.range()[0]
        self.element('#lanes').send_keys(Keys.ARROW_LEFT)
        self.assertLess(self.range()[0], begin)
        self.element('#lanes').send_keys('0')
        self.assertEqual(self.range(), whole)

    def test_wheel_and_drag_zoom_and_move(self):
        self.record_calls()
        self.write()
        self.open()
        whole = self.span()
        self.click_at('#lanes', 600, 40)
        origin = ScrollOrigin.from_element(*self.at('#lanes', 600, 40))
        self.actions().scroll_from_origin(origin, 0, -400).perform()
        self.wait(lambda: self.span() < whole)
        begin, span = self.range()[0], self.span()
        self.actions().move_to_element_with_offset(*self.at('#lanes', 600, 40)) \
            .click_and_hold().move_by_offset(-120, 0).release().perform()
        self.wait(lambda: self.range()[0] > begin)
        self.assertAlmostEqual(self.span(), span, delta=1)
        # A quarter of the strip, from a quarter of the recording on.
        width = self.element('#map').size['width'] - 168
        self.actions().move_to_element_with_offset(*self.at('#map', 168 + width // 4, 20)) \
            .click_and_hold().move_by_offset(width // 4, 0).release().perform()
        self.wait(lambda: abs(self.span() - whole / 4) < whole / 50)
        self.assertAlmostEqual(self.range()[0], whole / 4, delta=whole / 50)

    def test_a_click_tells_of_the_call(self):
        self.record_calls()
        self.write()
        self.open()
        self.assertEqual(self.texts('#details *'), [])
        self.element('#lanes').send_keys(']')
        self.wait(lambda: self.texts('#details h3'))
        self.element('#lanes').send_keys(Keys.ENTER)
        self.element('#lanes').send_keys(Keys.ESCAPE)
        self.wait(lambda: not self.texts('#details h3'))
        # The outermost call now has most of the width, in the row below the ruler.
        self.click_at('#lanes', 700, 26 + 9)
        self.wait(lambda: self.texts('#details h3'))
        self.assertEqual(self.texts('#details h3')[0].split()[0], 'tree_root')
        self.assertRegex(self.facts('#details')['Took'], r'ms|µs')
        self.assertIn('graph_tree', self.facts('#details')['Thread'])

    def test_search_finds_names(self):
        items = self.record_calls()
        self.write()
        self.open()
        name = collections.Counter(item['probe'].split(':')[-1] for item in items).most_common()[-1][0]
        calls = sum(1 for item in items if item['probe'].endswith(':' + name) and
                    item['kind'] == 'hit')
        before = self.distribution('#lanes')
        self.search(name, calls)
        self.wait(lambda: self.distribution('#lanes') != before)
        self.element('#search-next').click()
        self.wait(lambda: self.texts('#details h3'))
        self.assertEqual(self.texts('#details h3')[0].split()[0], name)
        self.assertEqual(self.texts('#search-count'), [f'1 of {calls}'])
        self.search('no such function', 0)
        self.assertEqual(self.texts('#search-count'), ['none'])

    def test_search_finds_what_calls_were_given(self):
        self.record_hits()
        self.write()
        self.open()
        expected = [i for i in range(HITS) if '77' in f'{i},{i + 1}']
        self.search('77', len(expected))
        self.element('#search-text').send_keys(Keys.ENTER)
        self.wait(lambda: self.texts('#details h3'))
        self.assertRegex(self.facts('#details')['Given'], rf'\b{expected[0]}\b')
        begin, end = self.range()
        self.assertLess(end - begin, nanoseconds(self.facts('#facts')['Duration']))

    def test_a_click_zooms_the_flame_graph(self):
        self.record_calls()
        done = support.run('--json', 'report', self.file, '--tree')
        tree = json.loads(done.stdout)['tree']
        root, = [node for node in tree if node['depth'] == 0]
        widest = max((tree[child] for child in root['children']), key=lambda node: node['total_ns'])
        self.write()
        self.open()
        self.assertEqual(self.data('#flame-canvas', 'focus'), 'all calls')
        self.click_at('#flame-canvas', 40, 30)
        self.wait(lambda: self.data('#flame-canvas', 'focus') == 'tree_root')
        self.assertIn(f'{root["calls"]} calls', self.texts('#flame-frame')[0])
        self.assertIn('(100.0 %)', self.texts('#flame-frame')[0])  # all others are within
        frames = self.data('#flame-canvas', 'frames')
        self.click_at('#flame-canvas', 40, 50)
        self.wait(lambda: self.data('#flame-canvas', 'focus') == widest['name'])
        self.wait(lambda: self.data('#flame-canvas', 'frames') != frames)
        self.element('#flame-reset').click()
        self.wait(lambda: self.data('#flame-canvas', 'focus') == 'all calls')
        self.element('#flame-canvas').send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        self.wait(lambda: self.data('#flame-canvas', 'focus') == widest['name'])

    def test_stacks_are_a_flame_graph(self):
        program = self.program('hot')
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, '--do', 'event, stack')
        self.call(program, 50)
        self.end(verb)
        self.write()
        self.open()
        self.assertEqual(self.texts('#flame-of option'), ['stacks, by hits'])
        self.assertIn('all stacks: 50 hits', self.texts('#flame-frame')[0])
        canvas = self.element('#flame-canvas')
        for _ in range(4):
            canvas.send_keys(Keys.ARROW_DOWN)
        self.wait(lambda: self.texts('#flame-frame')[0].startswith('main: 50 hits'))

    def test_latency_of_a_function(self):
        items = self.record_calls()
        took = collections.defaultdict(list)
        for item in items:
            if item['kind'] == 'return' and 'duration' in item:
                took[item['probe'].split(':')[-1]].append(item['duration'])
        self.write()
        self.open()
        for name in sorted(took, key=lambda name: len(took[name]))[-2:]:
            label, = [text for text in self.texts('#latency-of option') if text.startswith(name + ' ')]
            Select(self.element('#latency-of')).select_by_visible_text(label)
            self.wait(lambda: self.data('#latency-charts', 'count') == str(len(took[name])))
            self.has_latencies(took[name])
            self.assertGreater(len(self.distribution('#histogram')), 2)
            self.assertGreater(len(self.distribution('#heat')), 2)

    def has_latencies(self, took):
        figures = self.facts('#latency-figures')
        self.assertEqual(number(figures['Number']), len(took))
        expected = {'Least': min(took), 'Greatest': max(took), 'Average': sum(took) / len(took),
                    'Median': sorted(took)[len(took) // 2]}
        for name, ns in expected.items():
            self.assertAlmostEqual(nanoseconds(figures[name]), ns, delta=0.01 * ns, msg=name)

    def test_latency_from_probe_to_probe(self):
        program = self.program('requests', '2', '300')
        verb = self.start(*self.through_daemon(), 'record', 'usdt::requests:end', '--from',
                          'usdt::requests:begin', '--by', 'arg0', '--do', 'event(str(arg1))', '-p',
                          str(program.pid), '-o', self.file)
        program.send('go')
        matched = program.result()['matched']
        self.end(verb)
        items, _ = self.shown()
        self.write()
        self.open()
        self.assertEqual(len(items), matched)
        self.has_latencies([item['duration'] for item in items])
        named = sum(1 for item in items if 'r12' in item['args'][0])
        self.assertGreater(named, 0)
        self.search('r12', named)

    def test_tables_are_sorted_by_the_clicked_column(self):
        self.record_calls()
        self.write()
        self.open()
        names = lambda: [row[0] for row in self.rows('probes')]
        units = {'ns': 1, 'us': 1e3, 'µs': 1e3, 'ms': 1e6, 's': 1e9}
        ns = lambda text: float(text.split()[0].replace(',', '')) * units[text.split()[1]]
        totals = [ns(row[5]) for row in self.rows('probes')]
        by_total = names()
        self.assertGreater(len(by_total), 10)
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertNotEqual(totals, sorted(totals))
        titles = {button.text.rstrip(' ▲▼'): button
                  for button in self.driver.find_elements(By.CSS_SELECTOR, '#probes th button')}
        titles['Total'].click()
        self.assertEqual(names(), by_total[::-1])
        titles['Probe'].click()
        self.assertEqual(names(), sorted(names()))
        titles['Greatest'].click()
        greatest = [ns(row[7]) for row in self.rows('probes')]
        self.assertEqual(greatest, sorted(greatest, reverse=True))
        self.assertNotEqual(names(), by_total)
        sorted_by = self.driver.execute_script(
            "return [...document.querySelectorAll('#probes th[aria-sort]')].map(one => "
            "[one.textContent, one.getAttribute('aria-sort')])")
        self.assertEqual(sorted_by, [['Greatest', 'descending']])

    def test_choosing_a_probe_finds_it_everywhere(self):
        items = self.record_calls()
        self.write()
        self.open()
        button, = [one for one in self.driver.find_elements(By.CSS_SELECTOR, '#probes button')
                   if one.text == 'tree_19']
        button.click()
        calls = sum(1 for item in items if item['probe'].endswith(':tree_19') and
                    item['kind'] == 'hit')
        self.wait(lambda: self.data('#timeline', 'matches') == str(calls))
        chosen = Select(self.element('#latency-of')).first_selected_option.text
        self.assertTrue(chosen.startswith('tree_19 '), chosen)

    # ---- appearance ----

    def distribution(self, css):
        """The shares of the colours in the visible part of an element."""
        element = self.element(css)
        self.driver.execute_script('arguments[0].scrollIntoView({block: "center", '
                                   'behavior: "instant"})', element)
        picture = base64.b64encode(element.screenshot_as_png).decode()
        return sorted(self.driver.execute_async_script(COLOURS, picture))

    def test_is_drawn_in_both_themes(self):
        self.record_calls()
        self.write()
        self.open()
        grounds = set()
        for theme in 'light', 'dark':
            with self.subTest(theme=theme):
                self.assertEqual(self.data('html', 'theme'), theme)
                grounds.add(self.element('body').value_of_css_property('background-color'))
                # A colour for each function, and names; no other colour fills almost everything.
                for css, colours in [('#lanes', 12), ('#flame-canvas', 12), ('#map', 4),
                                     ('#histogram', 4), ('#heat', 4)]:
                    shares = [share for share in self.distribution(css) if share > 1e-4]
                    self.assertGreaterEqual(len(shares), colours, css)
                    self.assertLess(shares[-1], 0.995, css)
            self.element('#theme').click()
        self.assertEqual(len(grounds), 2)

    def test_fits_a_narrow_window(self):
        self.record_calls()
        self.write()
        self.open()
        self.driver.set_window_size(420, 800)
        self.wait(lambda: self.driver.execute_script('return innerWidth') < 520)
        self.assertLessEqual(self.driver.execute_script(
            'return document.documentElement.scrollWidth - innerWidth'), 0)
        self.wait(lambda: len(self.distribution('#lanes')) > 10)

    def test_all_that_can_be_used_has_a_name(self):
        self.record_calls()
        self.write()
        self.open()
        nameless = self.driver.execute_script('''
            return [...document.querySelectorAll('button, input, select, canvas, [tabindex]')]
              .filter(one => !one.ariaHidden && !one.ariaLabel && !one.textContent.trim() &&
                             !one.labels?.length)
              .map(one => one.outerHTML)''')
        self.assertEqual(nameless, [])

    # ---- hostile contents ----

    def test_hostile_names_are_text(self):
        evil = '<img src=x onerror="owned=1">'
        folder = self.directory / '<script>owned=1<'
        (folder / 'script>').mkdir(parents=True)
        shutil.copy(support.target('hot'), folder / 'script>' / evil)
        program = support.Program(str(folder / 'script>' / evil))
        self.addCleanup(program.end)
        self.file = str(self.directory / f'<!--<b>{evil}.tct')
        self.record_hits(program)
        self.write()
        self.open()
        self.element('#lanes').send_keys(']')
        self.wait(lambda: self.texts('#details h3'))
        self.assertIsNone(self.driver.execute_script('return window.owned'))
        self.assertEqual(self.texts('img, b'), [])
        self.assertEqual(len(self.texts('script:not([type])')), 1)
        self.assertEqual(self.texts('h1'), [f'<!--<b>{evil}.tct'])
        self.assertIn(evil, self.driver.title)
        self.assertEqual(self.rows('threads')[0][0], evil[:15])
        self.assertIn(f'<script>owned=1</script>/{evil}', self.texts('#probes .where')[0])
        self.assertEqual(self.driver.get_log('browser'), [])

    # ---- losses ----

    def test_losses_have_their_place_and_cause(self):
        program = self.program('hot')
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file)
        # Nobody reads the rings.
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            self.call(program, 1_000_000)
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)
        self.call(program, 10)
        self.end(verb)
        items, _ = self.shown()
        lost = [item['lost'] for item in items if 'lost' in item]
        self.assertTrue(lost)
        self.assertEqual({one['cause'] for one in lost}, {'ring_full'})
        self.write()
        self.open()
        self.assertEqual(number(self.facts('#facts')['Lost']), sum(one['count'] for one in lost))
        rows = self.rows('loss-table')
        self.assertEqual(sorted(number(row[3]) for row in rows), sorted(one['count'] for one in lost))
        self.assertEqual({row[1] for row in rows}, {'the ring of its CPU was full'})
        self.assertEqual(sorted(int(row[2]) for row in rows), sorted(one['cpu'] for one in lost))

    def test_a_page_that_cannot_be_written_leaves_what_was_there(self):
        self.record_hits()
        pathlib.Path(self.page).write_text('what was there')
        before = sorted(os.listdir(self.directory))
        most = (20_000, 20_000)
        done = support.run('report', self.file, '--html', self.page, restore_signals=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, most))
        self.assertEqual(done.returncode, 1)
        self.assertIn('File too large', done.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before)
        self.assertEqual(pathlib.Path(self.page).read_text(), 'what was there')


class FlameGraph(PageTest):
    """The picture that export writes, opened by itself."""

    def setUp(self):
        super().setUp()
        self.picture = str(self.directory / 'out.svg')
        done = support.run('export', str(CORPUS / 'v1-calls.tct'), '--to', 'flamegraph', '-o', self.picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        ways = support.run('report', str(CORPUS / 'v1-calls.tct'), '--folded').stdout.splitlines()
        self.ways = {tuple(way.split(';')): int(ns) for way, ns in (line.rsplit(' ', 1) for line in ways)}
        browser.open_page(self.driver, self.picture)

    def boxes(self):
        """Of those that are shown: name, left end, width, y, and label."""
        return self.driver.execute_script('return boxes.filter(box => box.group.style.display !== "none").map(box => ['
                                          'box.name, ...["x", "width", "y"].map(name => Number(box.rect.getAttribute(name))),'
                                          'box.group.querySelector("text")?.textContent ?? ""])')

    def press(self, box):
        self.driver.execute_script('boxes.find(box => box.name === arguments[0]).group.dispatchEvent('
                                   'new MouseEvent("click", {bubbles: true}))', box)

    def test_a_click_shows_a_box_as_wide_as_the_picture(self):
        before = self.boxes()
        whole = before[0][2]
        self.assertEqual(before[0][0], 'all')
        chosen = next(box for box in before if box[0] != 'all' and box[2] < whole / 2)
        self.press(chosen[0])
        after = self.boxes()
        self.assertIn([chosen[0], before[0][1], whole], [box[:3] for box in after])
        below = {way[i] for way in self.ways if chosen[0] in way for i in range(len(way))} | {'all'}
        self.assertLessEqual({box[0] for box in after}, below)
        self.assertLess(len(after), len(before))
        self.assertIn(chosen[0], [box[4] for box in after])
        self.press('all')
        self.assertEqual([box[:4] for box in self.boxes()], [box[:4] for box in before])

    def test_search_says_what_share_was_in_functions_with_the_text(self):
        name = next(box[0] for box in self.boxes() if box[0] != 'all')
        share = sum(ns for way, ns in self.ways.items() if any(name in part for part in way)) / sum(self.ways.values())
        self.driver.execute_script('window.prompt = () => arguments[0]', name)
        self.element('#search').click()
        self.assertEqual(self.texts('#matched'), [f'{100 * share:.1f} % in "{name}"'])
        self.assertEqual(self.driver.get_log('browser'), [])


class File(PageTest):
    """Tests without an engine."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file, self.page = (f'{directory.name}/out.{kind}' for kind in ('tct', 'html'))

    def test_tells_what_it_wrote(self):
        self.assertRegex(self.write(file=str(CORPUS / 'v1-calls.tct')),
                         r'^.*out\.html: 527 events, 0 lost, [0-9.]+ MiB\n$')
        self.assertEqual(self.write('-q', file=str(CORPUS / 'v1-calls.tct')), '')
        self.assertEqual(os.stat(self.page).st_mode & 0o777, 0o666 & ~current_mask())

    def test_damage_is_told(self):
        whole = (CORPUS / 'v1-calls.tct').read_bytes()
        torn = bytearray(whole)
        torn[-10] ^= 1
        for content, expected in [(bytes(torn), r'1 block of it with \d+ events? cannot be read'),
                                  (whole[:-10], 'are incomplete: its writer')]:
            pathlib.Path(self.file).write_bytes(content)
            told = self.write()
            self.assertIn('note: ' + self.file, told)
            self.open()
            self.assertRegex(self.texts('#damage li')[0], expected)

    def test_why_the_file_was_written_is_told(self):
        self.write(file=str(CORPUS / 'v1-dump.tct'))
        self.open()
        self.assertEqual(self.texts('#reason'), ['Dumped because process 10931 (hot) was killed by '
                                                 'SIGSEGV; it left no core.'])
        self.write(file=str(CORPUS / 'v1-calls.tct'))
        self.open()
        self.assertEqual(self.texts('#reason'), [''])

    def test_a_file_without_events_is_a_page(self):
        pathlib.Path(self.file).write_bytes((CORPUS / 'v1-calls.tct').read_bytes()[:64])
        self.write()
        self.open()
        self.assertEqual(self.facts('#facts')['Events'], '0')
        self.assertEqual(self.driver.get_log('browser'), [])

    def test_opens_in_the_browser_of_who_runs_it(self):
        shutil.copy(CORPUS / 'v1-calls.tct', self.file)
        browser, seen = (f'{os.path.dirname(self.file)}/{name}' for name in ('browser', 'seen'))
        pathlib.Path(browser).write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {seen}\n')
        os.chmod(browser, 0o755)
        open_with = lambda *words, **more: support.run('report', *words, '--open', env={
            'PATH': os.environ['PATH'], 'BROWSER': f"'{browser}' --new", **more})
        for words, page in (([self.file], self.file + '.html'), ([self.file, '--html', self.page], self.page)):
            done = open_with(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(pathlib.Path(seen).read_text(), f'--new|{page}|')
            self.assertIn('<html', pathlib.Path(page).read_text())
        os.unlink(seen)
        for more, expected in (({'SUDO_UID': '1000'}, 'starts no browser as another user'),
                               ({'BROWSER': '/nowhere/b'}, 'there is no command "/nowhere/b"'),
                               ({'BROWSER': 'false'}, '"false" failed')):
            done = open_with(self.file, **more)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(expected, done.stderr)
            self.assertIn(self.file + '.html', done.stderr)
        self.assertFalse(os.path.exists(seen))

    def test_refuses_what_it_cannot_show(self):
        trace = str(CORPUS / 'v1-calls.tct')
        lines = str(CORPUS / 'v1-calls.jsonl')
        for words, status, expected in [
                ([lines, '--html', self.page], 1, 'no trace file'),
                (['-', '--html', self.page], 1, 'standard input'),
                (['/nowhere.tct', '--html', self.page], 1, 'No such file'),
                ([trace, '--html', trace], 1, 'is the trace file'),
                ([trace, '--html', '/nowhere/page.html'], 1, 'No such file'),
                ([trace, '--html', self.page, '--tree'], 2, 'excludes'),
                ([trace, '--open', '--tree'], 2, 'excludes'),
                ([trace, '--html', self.page, '--folded'], 2, 'excludes'),
                ([trace, '--html', self.page, '--against', trace], 2, 'excludes')]:
            with self.subTest(words=words):
                done = support.run('report', *words)
                self.assertEqual((done.returncode, expected in done.stderr), (status, True),
                                 done.stderr)
                self.assertFalse(os.path.exists(self.page))


def current_mask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


if __name__ == '__main__':
    unittest.main()
