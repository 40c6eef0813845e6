/**
 * The look of the HTML report: dark and light as the reader's system is, readable from 320 px on,
 * and on paper.
 */
export const style = `
:root {
  --page: #f6f7f9; --card: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d5dae1; --code: #f1f3f6; --link: #0a58ca;
  --fail: #b42318; --warn: #8a5a00; --pass: #18713c; --rest: #57606a; --mark: #ffe08a; --mark-text: #1b1f24; --marked: #fff6da;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1216; --card: #181c22; --text: #e4e8ee; --soft: #9ba5b2; --line: #2f3742; --code: #101419; --link: #7ab3ff;
    --fail: #ff8a7d; --warn: #e9b949; --pass: #64cf8e; --rest: #9ba5b2; --mark: #f2c744; --mark-text: #14110a; --marked: #2d2711;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
body { max-width: 66rem; margin: 0 auto; padding: 1.25rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0; }
h4 { font-size: .85rem; margin: 1rem 0 .3rem; color: var(--soft); font-weight: 600; }
p { margin: .4rem 0; }
a { color: var(--link); }
code, pre { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }

.fail, .vacuous, .error { --tone: var(--fail); }
.warn, .waived, .left-out { --tone: var(--warn); }
.pass { --tone: var(--pass); }
.not-applicable { --tone: var(--rest); }
.badge { color: var(--tone); border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem; font-size: .8125rem; font-weight: 600; white-space: nowrap; }

.verdict { border-left: .4rem solid var(--tone); background: var(--card); border-radius: .5rem; padding: 1rem 1.1rem; box-shadow: 0 0 0 1px var(--line); }
.verdict strong { color: var(--tone); }
.verdict p { color: var(--soft); }
.verdict .remark { color: var(--text); font-weight: 600; }
.bar { display: block; width: 100%; height: .6rem; margin: .8rem 0 .2rem; border-radius: .3rem; }
.bar rect { fill: var(--tone); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .4rem 1rem; margin: .8rem 0 0; font-size: .875rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; }

.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(5.6rem, 1fr)); gap: .4rem; list-style: none; margin: .9rem 0 0; padding: 0; }
.groups a { display: block; height: 100%; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: .4rem; color: inherit; text-decoration: none; font-size: .8125rem; }
.groups a:hover { border-color: var(--link); }
.groups b { display: block; }
.groups span { color: var(--tone); margin-right: .35rem; white-space: nowrap; }
.groups .fail, .groups .error, .groups .vacuous { font-weight: 700; }

#filter { position: sticky; top: 0; z-index: 1; background: var(--page); padding: .6rem 0; margin-top: 1.5rem; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; }
#filter fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem; min-width: 0; }
#filter legend { float: left; padding: 0; }
#filter input[type=search] { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .6rem; flex: 1 1 12rem; min-width: 0; }
.choice { position: relative; }
.choice input { position: absolute; inset: 0; margin: 0; opacity: 0; cursor: pointer; }
.choice span { display: block; border: 1px solid var(--line); background: var(--card); border-radius: 1rem; padding: .15rem .7rem; font-size: .8125rem; }
.choice :checked + span { background: var(--text); border-color: var(--text); color: var(--page); }
.choice :focus-visible + span { outline: 2px solid var(--link); outline-offset: 2px; }
#shown { flex-basis: 100%; margin: 0; font-size: .8125rem; color: var(--soft); }
#shown:empty { display: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.rule { background: var(--card); border-radius: .5rem; box-shadow: 0 0 0 1px var(--line); margin: .75rem 0; padding: .9rem 1.1rem; scroll-margin-top: 8rem; }
.rule:target { box-shadow: 0 0 0 2px var(--link); }
.rule header { display: flex; flex-wrap: wrap; gap: .2rem .6rem; align-items: baseline; }
.rule header h3 { flex: 1 1 16rem; }
.rule .id { color: inherit; text-decoration: none; font-weight: 700; white-space: nowrap; }
.rule .id:hover { text-decoration: underline; }
.rule:not(.brief) header .soft { flex-basis: 100%; }
.rule .soft { color: var(--soft); font-size: .8125rem; }
.brief { padding: .45rem 1.1rem; margin: .3rem 0; }
.brief h3 { font-weight: 400; font-size: .9rem; }
.brief p { font-size: .875rem; color: var(--soft); }
.problem { border-top: 1px solid var(--line); margin-top: .8rem; padding-top: .6rem; }
.problem > .sentence { font-weight: 600; }
.advice { display: grid; grid-template-columns: max-content 1fr; gap: .3rem .9rem; margin: 1rem 0 0; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .9rem; }
.advice dt { color: var(--soft); }
.advice dd { margin: 0; min-width: 0; }
.advice code { user-select: all; }

pre { margin: 0; padding: .6rem .7rem; background: var(--code); border-radius: .35rem; max-height: 24rem; overflow: auto; overflow-wrap: normal; tab-size: 2; }
pre.wraps { white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--mark); color: var(--mark-text); border-radius: .15rem; padding: 0 .1rem; font-weight: 700; }
.lines { display: grid; grid-template-columns: max-content minmax(max-content, 1fr); max-height: none; }
.lines > span { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; }
.lines i { font-style: normal; color: var(--soft); text-align: right; padding-right: .9rem; user-select: none; }
.lines .marked { background: var(--marked); box-shadow: inset .2rem 0 var(--mark); font-weight: 700; }
.lines .gap { color: var(--soft); }
.exchange { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; }
.exchange.marked { border-color: var(--mark); box-shadow: 0 0 0 1px var(--mark); background: var(--marked); }
.exchange summary { padding: .35rem .7rem; cursor: pointer; }
.exchange .two { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .5rem; padding: 0 .5rem .5rem; }
.exchange .two h5 { margin: 0 0 .15rem; font-size: .75rem; color: var(--soft); font-weight: 600; }
.gap { color: var(--soft); font-size: .8125rem; }

details > summary { cursor: pointer; }
#passed > summary { font-size: 1.15rem; font-weight: 700; margin: 2rem 0 .6rem; }
#passed h3.group { margin: 1rem 0 .4rem; color: var(--soft); }
footer { margin-top: 3rem; color: var(--soft); font-size: .8125rem; }

@media (max-width: 40rem) {
  body { padding: .75rem .75rem 3rem; }
  #filter { position: static; }
  .rule { padding: .8rem; scroll-margin-top: 1rem; }
  .brief { padding: .45rem .8rem; }
  .advice { grid-template-columns: 1fr; gap: 0; }
  .advice dd { margin-bottom: .5rem; }
  .exchange .two { grid-template-columns: minmax(0, 1fr); }
}
@media print {
  :root { --page: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --code: #fff; --link: #000; --fail: #900; --warn: #640; --pass: #050; --rest: #444; --mark: #ffe08a; --mark-text: #000; --marked: #fff; }
  html { font-size: 11px; }
  body { max-width: none; padding: 0; }
  #filter { display: none; }
  pre { max-height: none; overflow: visible; white-space: pre-wrap; overflow-wrap: anywhere; }
  .lines, .lines > span { display: block; }
  .rule header, .exchange summary { break-after: avoid; }
  .brief { break-inside: avoid; }
  .exchange::details-content { content-visibility: visible; block-size: auto; }
}
`;
