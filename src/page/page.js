// Makes the filter answer as it is typed into, and the page follow changes. Without a script the same pages work, asked for
// by hand.
'use strict';

(() => {
  const TYPING_MS = 100;
  const RETRY_MS = 10_000;
  const filter = document.getElementById('filter');
  const said = document.getElementById('said');
  const live = document.getElementById('live');
  if (!said || !live) return;
  document.documentElement.classList.add('scripted');

  const say = (words) => { said.textContent = words; };
  const words = (id) => document.getElementById(id)?.textContent ?? '';
  const liveParts = (within) => [...within.querySelectorAll('[data-live]')];

  // What the server sent last for each part: the parts on the page may have been marked since.
  const sent = new Map(liveParts(document).map((part) => [part.id, part.outerHTML]));

  // Where the reader looks: the first thing in view that has a key.
  function place() {
    const keyed = [...document.querySelectorAll('[data-key]')];
    const first = keyed.find((element) => element.getBoundingClientRect().bottom > 0);
    return first && { key: first.dataset.key, top: first.getBoundingClientRect().top };
  }

  function returnTo(place) {
    const same = place && [...document.querySelectorAll('[data-key]')].find((it) => it.dataset.key === place.key);
    if (same && scrollY > 0) scrollBy(0, same.getBoundingClientRect().top - place.top);
  }

  // Puts what the server sends now in the place of what differs from it. The filter, the scroll and the focus stay.
  function swap(fresh) {
    const [parts, here] = [liveParts(fresh), liveParts(document)];
    const isSamePage = parts.length === here.length && parts.every((part, at) => part.id === here[at].id);
    const changed = parts.filter((part) => !isSamePage || sent.get(part.id) !== part.outerHTML);
    parts.forEach((part) => sent.set(part.id, part.outerHTML));
    if (!changed.length) return false;
    const [at, focused] = [place(), document.activeElement?.getAttribute('href')];
    const inMain = focused !== null && document.activeElement.closest('[data-live]') !== null;
    const before = new Map([...document.querySelectorAll('[data-key]')].map((it) => [it.dataset.key, it.textContent]));
    const isShown = changed.some((part) => part.id !== 'standing');
    if (isSamePage) {
      changed.forEach((part) => document.getElementById(part.id).replaceWith(document.adoptNode(part)));
    } else {
      document.querySelector('main').replaceWith(document.adoptNode(fresh.querySelector('main')));
      document.title = fresh.title;
    }
    for (const it of document.querySelectorAll('[data-key]')) {
      if (before.size && before.get(it.dataset.key) !== it.textContent) it.classList.add('fresh');
    }
    if (inMain) {
      [...document.links].find((link) => link.getAttribute('href') === focused)?.focus({ preventScroll: true });
    }
    returnTo(at);
    return isShown;
  }

  let asking;

  // Asks for the page at `url` and shows it. Of several at once only the last counts.
  async function show(url) {
    asking?.abort();
    const mine = (asking = new AbortController());
    try {
      const answer = await fetch(url, { cache: 'no-cache', signal: mine.signal });
      if (!answer.ok && answer.status !== 404) return false;
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      return !mine.signal.aborted && fresh.querySelector('main') !== null && swap(fresh);
    } catch {
      return false;
    }
  }

  // The filter.
  if (filter) {
    let timer;
    const run = async () => {
      const url = new URL(filter.form.action);
      if (filter.value.trim()) url.searchParams.set('q', filter.value.trim());
      history.replaceState(null, '', url);
      await show(url);
      say(words('found'));
      document.querySelectorAll('.fresh').forEach((it) => it.classList.remove('fresh'));
    };
    filter.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(run, TYPING_MS);
    });
    filter.form.addEventListener('submit', (event) => {
      event.preventDefault();
      clearTimeout(timer);
      run();
    });
    filter.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      if (filter.value === '') return filter.blur();
      filter.value = '';
      clearTimeout(timer);
      run();
    });
    addEventListener('pageshow', () => {
      // A browser may keep what was typed over a reload.
      if (filter.value.trim() !== (new URL(location).searchParams.get('q') ?? '').trim()) run();
    });
    addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
      if (event.key === '/' && !isTyping) {
        event.preventDefault();
        filter.select();
        filter.focus();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const links = [...document.querySelectorAll('.skills h2 a')];
      const at = links.indexOf(event.target);
      if (!step || (at < 0 && (event.target !== filter || step < 0))) return;
      event.preventDefault();
      (at + step < 0 ? filter : links[at + step])?.focus();
    });
  }

  // Changes. Browsers have few connections for one server, so only a page that is looked at keeps one.
  let events;

  async function refresh() {
    if (await show(location.href.split('#')[0])) {
      say(`The page has been updated. ${words('found') || words('parts')}`);
    }
  }

  function connect() {
    events?.close();
    if (document.hidden) return;
    const mine = (events = new EventSource('events'));
    mine.addEventListener('open', () => {
      live.textContent = 'Following changes';
      live.classList.add('on');
      refresh();
    });
    mine.addEventListener('changed', refresh);
    mine.addEventListener('error', () => {
      live.textContent = 'Not connected';
      live.classList.remove('on');
      if (mine.readyState === EventSource.CLOSED) setTimeout(() => mine === events && connect(), RETRY_MS);
    });
  }

  document.addEventListener('visibilitychange', connect);
  addEventListener('pagehide', () => events?.close());
  addEventListener('pageshow', (event) => event.persisted && connect());
  connect();
})();
