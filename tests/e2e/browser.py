# SPDX-License-Identifier: BSD-2-Clause
"""A headless browser without a network, for pages in files."""

import contextlib
import json
import pathlib

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

LIMIT_S = 60

# Root gets no sandbox; /dev/shm may be missing or small, and there may be no GPU. Requests to the network fail.
# Scrolling is immediate.
FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
         '--proxy-server=127.0.0.1:9', '--disable-background-networking',
         '--disable-component-update', '--no-first-run', '--force-prefers-reduced-motion',
         '--force-color-profile=srgb']
SIZE = (1300, 900)


@contextlib.contextmanager
def started():
    """A browser without a page."""
    options = Options()
    options.binary_location = '/usr/bin/chromium'
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = webdriver.Chrome(service=Service('/usr/bin/chromedriver'), options=options)
    try:
        driver.set_page_load_timeout(LIMIT_S)
        driver.set_script_timeout(LIMIT_S)
        yield driver
    finally:
        driver.quit()


def open_page(driver, page):
    """Waits until it is drawn completely. The logs then contain only this page."""
    driver.set_window_size(*SIZE)
    for log in 'browser', 'performance':
        driver.get_log(log)
    driver.get(pathlib.Path(page).resolve().as_uri())
    wait(driver, lambda: driver.execute_script('return document.documentElement.dataset.ready') == '1')


def wait(driver, condition):
    """The result of `condition` when it is true."""
    return WebDriverWait(driver, LIMIT_S, poll_frequency=0.05).until(lambda _: condition())


def marks(driver):
    """In ms since the start of the navigation."""
    return dict(driver.execute_script(
        "return performance.getEntriesByType('mark').map(mark => [mark.name, mark.startTime])"))


def requests(driver):
    """The addresses that the page and its parts have requested."""
    messages = [json.loads(entry['message'])['message'] for entry in driver.get_log('performance')]
    return [message['params']['request']['url'] for message in messages
            if message['method'] == 'Network.requestWillBeSent']
