import { describe, expect, test } from "vitest";
import { clockName } from "./evaluate.ts";
import { compileTemplate } from "./template.ts";

const scope = {
  [clockName]: Date.UTC(2026, 0, 15, 12),
  config: { name: "ann", list: [1, 2, 3], nested: { a: { b: "deep" } }, empty: "", flag: true },
  record: { id: 5, "odd name": "x", price: 2.5, none: null },
  response: { next: "t2", items: [{ id: 1 }] },
};
const value = (template: string) => compileTemplate(template, "here").value(scope);
const problem = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return "nothing was refused";
};
const refused = (words: RegExp) =>
  expect.objectContaining({
    code: "CONNECTOR_INVALID",
    details: { path: "here", problem: expect.stringMatching(words) },
  });

describe("a template", () => {
  test.each<[string, unknown]>([
    ["plain {text}", "plain {text}"],
    ["a {{ config.name }} b", "a ann b"],
    ["{{ config['nested'].a[\"b\"] }}", "deep"],
    ["{{ config.list[-1] }}{{ response.items.0.id }}", 31],
    ["{{ record['odd name'] }}", "x"],
    ["{{ record.id + 1 }}", 6],
    ["{{ 7 // 2 * 2 - 7 % 4 }}", 3],
    ["{{ 'a' ~ 1 ~ none ~ true }}", "a1NoneTrue"],
    ["{{ 'yes' if config.flag and not config.empty else 'no' }}", "yes"],
    ["{{ config.missing }}", ""],
    ["{{ config.missing or 'other' }}", "other"],
    ["{{ config.missing | default('other') | upper }}", "OTHER"],
    ["{{ config.get('name') }}{{ config.get('x', 'y') }}", "anny"],
    ["{{ record.none }}", null],
    ["{{ 'ann' in config.name and 2 in config.list and 'id' in record }}", true],
    ["{{ 4 not in config.list }}", true],
    ["{{ record.id >= 5 and record.price < 3 and 'a' < 'b' }}", true],
    ["{{ config.x is defined }}{{ record.none is none }}{{ 1 is not string }}", "FalseTrueTrue"],
    ["{{ max(config.list) }}{{ min(4, 2) }}", 32],
    ["{{ {'a': [1, 'it\\'s', none]} }}", { a: [1, "it's", null] }],
    ["a {{ {'a': [1, 'it\\'s', none]} }}", "a {'a': [1, \"it's\", None]}"],
    ["{{ {'a': 1} | tojson }}", { a: 1 }],
    ["a {{ {'a': 'é<'} | tojson }}", 'a {"a": "\\u00e9\\u003c"}'],
    ["{{ 'a,b'.split(',') | join('-') | replace('-', '+') }}", "a+b"],
    [
      "{{ 'ab' | hash('sha256') }}",
      "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603",
    ],
    ["{{ 'ab' | base64encode }}{{ 'YWI=' | base64decode }}", "YWI=ab"],
    ["{% if record.id == 4 %}four{% elif record.id == 5 %}five{% else %}more{% endif %}", "five"],
    ["{# nothing #}{{- 'x' -}}", "x"],
    ["007", "007"],
    ['{# a note #}{"a": 1}', { a: 1 }],
    ["1, 'a'", [1, "a"]],
    ["0x10", 16],
    ["5 # five", 5],
    ["x {{ (1,) }} {{ [(1, 'a')] }}", "x (1,) [(1, 'a')]"],
    ["{{ [1] == (1,) }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}", "False True"],
    ["{{ '\\u00e9\\x41' }} {{ 'id-12' | regex_search('(\\d+)') }}", "éA 12"],
    ["{{ '😀xy'[1] }}{{ '😀xy'[1:] }}", "xxy"],
    ["{{ 12345678901234567890 + 1 }} {{ 2 ** 64 % 1000 }}", "12345678901234567891 616"],
    ["{{ 12345678901234567890 == 12345678901234567891 }}", false],
    [
      "{{ 2.5 | round }} {{ 2.675 | round(2) }} {{ 3.21 | round(1, 'ceil') }} {{ 5 | round }}",
      "2.0 2.67 3.3 5",
    ],
    ["{{ {'a': 'b c'} | urlencode }} {{ \"a!('\" | urlencode }}", "a=b+c a%21%28%27"],
    ["{{ {'b': 1, 'a': '<'} | tojson }}|", '{"a": "\\u003c", "b": 1}|'],
    ["{{ ['b', 'A'] | sort | join }}{{ ['a', 'A'] | unique | list | length }}", "Ab1"],
    ["{{ [{'n': {'m': 1}}] | map(attribute='n.m') | list }}", [1]],
    ["{{ [{'n': 2}, {}] | map(attribute='n', default=0) | list }}", [2, 0]],
    ["{{ [{'n': 2}, {'n': 1}] | sort(attribute='n') | map(attribute='n') | list }}", [1, 2]],
    ["{{ [1, 2, 3] | select('>', 1) | list }}{{ 5 is lessthan 6 }}", "[2, 3]True"],
    ["{{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.startswith('b', 1) }}", "True True"],
    [
      "{{ 'page %s of %03d' % ('a', 5) }} {{ '{:>4}|{x}'.format(5, x='y') }}",
      "page a of 005    5|y",
    ],
    ["{{ 'ab' * 2 }}{{ [1] * 2 }}", "abab[1, 1]"],
    [
      "{{ now_utc().replace(day=1, hour=0).isoformat(timespec='minutes') }}",
      "2026-01-01T00:00+00:00",
    ],
    [
      "{{ now_utc().isocalendar()[1] }} {{ now_utc().isoweekday() }} {{ now_utc().strftime('%G-W%V') }}",
      "3 4 2026-W03",
    ],
    ["{{ today_with_timezone('Pacific/Kiritimati') }}", "2026-01-16"],
    ["{{ format_datetime(now_utc(), '%_ms') }}|", " 1s|"],
    [
      "{{ (now_utc() - str_to_datetime('2026-01-16T12:00:01Z')).days }} {{ (now_utc() - str_to_datetime('2026-01-14')).seconds }}",
      "-2 43200",
    ],
    [
      "{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
      3,
    ],
    [
      "{% set a, b = 1, 2 %}{% set c %}x{{ b }}{% endset %}{% with d=3 %}{{ a }}{{ c }}{{ d }}{% endwith %}",
      "1x23",
    ],
    ["{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(b=4, a=3) }}", 1234],
    ["{% filter upper %}a{% endfilter %}{% raw %}{{ b }}{% endraw %}", "A{{ b }}"],
    ["{{ ('a' if false) | default('x') }}{{ [] | d('y', true) }}", "xy"],
    [
      "{% for x in config.missing %}a{% endfor %}{{ config.missing | length }}{{ 'a' in config.missing }}",
      "0False",
    ],
    ["12345678901234567890", 12345678901234567890n],
    ["{{ record.id / 2 }} {{ record.price * 2 }} {{ 5 // 2.5 }}", "2.5 5.0 2.0"],
    ["{{ 5 | string }}", "5"],
    ["{{ now_utc() }}", "2026-01-15 12:00:00+00:00"],
    [
      "{{ now_utc().strftime('%d/%m/%y %I%p %j') }} {{ today_utc() }}",
      "15/01/26 12PM 015 2026-01-15",
    ],
    ["{{ (now_utc() - duration('P1M1DT1H')).isoformat() }}", "2025-12-14T11:00:00+00:00"],
    ["{{ day_delta(-1, format='%Y-%m-%d') }}", "2026-01-14"],
    ["{{ format_datetime('2026-02-03T04:05:06.7+01:00', '%s') }}", 1770087906],
    ["{{ format_datetime(1770087906, '%Y-%m-%dT%H:%M:%SZ') }}", "2026-02-03T03:05:06Z"],
    ["{{ format_datetime('03.02.2026', '%F', '%d.%m.%Y') }}", "2026-02-03"],
    ["{{ str_to_datetime('2026-03-31') - duration('P1M') }}", "2026-02-28 00:00:00+00:00"],
    ["{{ (now_utc() - str_to_datetime('2026-01-01')).days }}", 14],
    ["{{ now_utc() > str_to_datetime('2026-01-01') }}", true],
    ["{{ timestamp('2026-01-15T12:00:00Z') | int }}", 1768478400],
    ["{{ 'a=12&b=3' | regex_search('b=(\\\\d)') }}", 3],
    ["{{ 'a-b-c' | regex_replace('-', '_') }}", "a_b_c"],
  ])("%s", (template, expected) => {
    expect(value(template)).toEqual(expected);
  });

  test.each<[string, RegExp]>([
    ["{{ config.__class__ }}", /reaches for "__class__"/],
    ["{{ config['__proto__'] }}", /reaches for "__proto__"/],
    ["{{ ''.constructor }}", /reaches for "constructor"/],
    ["{{ process.exit() }}", /variable process, which is not supported|method exit/],
    ["{{ generate() }}", /macro generate, which is not supported/],
    ["{{ 'a' | hmac('b') }}", /filter hmac, which is not supported/],
    ["{{ day_delta(days=1) }}", /names the argument days of day_delta/],
    ["{% call x() %}{% endcall %}", /statement call, which is not supported/],
    ["{% for x in [1] recursive %}{% endfor %}", /recursive loop, which is not supported/],
    ["{{ 'a'.encode() }}", /method encode, which is not supported/],
    ["{{ ['a'] | map('hmac') }}", /filter hmac, which is not supported/],
    ["{{ ['a'] | select('callable') }}", /test callable, which is not supported/],
    ["{{ now_utc().replace(tzinfo=none) }}", /names the argument tzinfo of replace/],
    ["{{ 'a'.format(__class__=1) }}", /reaches for "__class__"/],
    ["{% raw %}a", /raw text without endraw/],
    ["{% set x %}a", /statement without endset/],
    ["{{ 1 ? 2 }}", /fault at character/],
    ["{{ config. }}", /lacks a name/],
    ["{{ config", /fault at character/],
    ["{% if 1 %}a", /statement without endif/],
    [`{{ ${"(".repeat(200)}1${")".repeat(200)} }}`, /nested deeper/],
    [`{{ ${"-1 + ".repeat(3_000)}1 }}`, /more than/],
    [`{{ '${"a".repeat(10_001)}' }}`, /more than 10000 characters/],
  ])("%s is refused when it is loaded", (template, words) => {
    expect(problem(() => compileTemplate(template, "here"))).toEqual(refused(words));
  });

  test.each<[string, boolean]>([
    ["{{ config.flag }}", true],
    ["{{ config.missing.part }}", false],
    ["{{ 'false' }}", false],
    ["{{ [] }}", false],
    ["{{ 0.0 }}", false],
    ["", false],
    ["{{ 'no' }}", true],
    ["{{ config.missing > '2026' or true }}", false],
    ["{{ 'x' not in config.missing and config.missing | length == 0 }}", true],
    ["{{ config.name.get('next').get('link') is none }}", false],
    ["{{ record.id.split(',') }}", false],
    ["{{ -config.missing }}", false],
    ["{{ config.missing[:5] }}", false],
    ["{{ max(config.missing, 1) }}", false],
    ["{{ config.missing | int }}", false],
    ["{{ config.missing is even }}", false],
    ["{{ str_to_datetime(config.missing) }}", false],
  ])("as a condition %s is %s", (template, expected) => {
    expect(compileTemplate(template, "here").holds(scope)).toBe(expected);
  });

  test("gives no value where it asks what is not there for a part, to who may leave it out", () => {
    const perhaps = (template: string) => compileTemplate(template, "here").perhaps(scope);
    expect(perhaps("a {{ config.missing.part }}")).toBeUndefined();
    expect(perhaps("a {{ config.missing }}")).toBe("a ");
    expect(problem(() => perhaps("{{ 1 // 0 }}"))).toEqual(refused(/divides by zero/));
  });

  test("reaches own properties alone, by whatever name they are asked for", () => {
    for (const name of ["toString", "hasOwnProperty", "valueOf", "isPrototypeOf"])
      expect(value(`{{ config.${name} }}{{ config[config.x ~ '${name}'] }}`)).toBe("");
    expect(value("{{ config['const' ~ 'ructor'] }}{{ config['__pro' ~ 'to__'] }}")).toBe("");
  });

  test.each<[string, RegExp]>([
    [
      `{{ 'aaaaaaaaaa'${" | replace('a', 'aaaaaaaaaa')".repeat(8)} }}`,
      /more than 262144 characters/,
    ],
    ["{{ config.missing.part }}", /asks what is not there/],
    ["{{ 1 // 0 }}", /divides by zero/],
    [`{{ '${"a".repeat(40)}!' | regex_search('(a+)+$') }}`, /pattern that takes more than 500 ms/],
    ["{{ 'a' | regex_search('(') }}", /pattern that is none/],
    ["{{ str_to_datetime('yesterday') }}", /date that is none/],
    ["{{ duration('1 day') }}", /duration that is none/],
    ["{{ now_utc() - duration('P3000Y') }}", /leaves the calendar/],
    ["{{ now_utc().strftime('%Q') }}", /format that is not supported/],
    ["{{ 'a' + 1 }}", /no number/],
    ["{{ config.missing | tojson }}", /not there as JSON/],
    ["{{ config.missing | regex_search('a') }}", /no text/],
    ["{{ 5 in '567' }}", /no text in one/],
    ["{{ duration('P1Y2M') }}", /duration of months/],
    ["{{ 10 ** 10 ** 10 ** 10 ** 10 }}", /number that is too large/],
    ["{{ 'a' * 300000 }}", /too often/],
    ["{{ [1] * 300000 }}", /too often/],
    ["{{ '%09999d' % 1 }}", /more than 1000 places/],
    ["{{ '{:9999}'.format(1) }}", /more than 1000 places/],
    ["{{ '{0.a}'.format(config) }}", /format that is not supported/],
    ["{{ 'a'.ljust(9999) }}", /more than 1000 places/],
    ["{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", /more than 20 levels/],
    [
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(18) }}",
      /more than 20000 steps/,
    ],
    [
      `{% set l = ('a,' * 100000).split(',') %}{% for x in l %}{{ x in l }}{% endfor %}`,
      /more than 20000 steps/,
    ],
    ["{{ [1, 2, 3] | slice(1000000) }}", /parts of no size/],
    ["{{ 'a' < 1 }}", /no order/],
  ])("%s is refused when it is evaluated", (template, words) => {
    expect(problem(() => value(template))).toEqual(refused(words));
  });
});
