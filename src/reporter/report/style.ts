/** The style of the page, in ASCII: its hash stands in the page's policy. Colours pass WCAG AA in both schemes. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2328;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;--link:#0550ae;--focus:#0550ae;
--error:#b31d28;--error-bg:#ffebe9;--warning:#7d4e00;--warning-bg:#fff8c5;--info:#0550ae;--info-bg:#ddf4ff;--ok:#116329;--ok-bg:#dafbe1;--mark:#ffd8d3;--mark-ink:#1f2328}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9da7b3;--line:#30363d;--panel:#161b22;--link:#79c0ff;--focus:#79c0ff;
--error:#ff9a92;--error-bg:#3c1618;--warning:#f0c35c;--warning-bg:#33270a;--info:#79c0ff;--info-bg:#0c2d4f;--ok:#7ee787;--ok-bg:#10311b;--mark:#6e2b2b;--mark-ink:#fff}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,"Segoe UI","DejaVu Sans",Helvetica,Arial,sans-serif;overflow-wrap:anywhere}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.87em}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.4rem .8rem;z-index:9}
header,main,footer{max-width:1180px;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.5rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .2rem}
h2{font-size:1.25rem;margin:2.4rem 0 .8rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.6rem 0 .6rem}
h4{font-size:.95rem;margin:1rem 0 .4rem}
p{margin:.4rem 0}
.sub,.note,.count,.of,.at,footer{color:var(--soft)}
.note{font-size:.87rem}
.count{font-weight:400;font-size:.87rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:1rem 0 0;padding:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.7rem;margin:0;padding:0}
.tiles div{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem}
.tiles dt{color:var(--soft);font-size:.82rem}
.tiles dd{margin:0;font-size:1.5rem;font-weight:600;font-variant-numeric:tabular-nums}
.tiles .error dd{color:var(--error)}.tiles .warning dd{color:var(--warning)}.tiles .info dd{color:var(--info)}.tiles .ok dd{color:var(--ok)}
.badge,.tag{display:inline-block;border-radius:1em;padding:0 .55em;font-size:.78rem;font-weight:600;line-height:1.5;white-space:nowrap}
.badge.error{color:var(--error);background:var(--error-bg)}.badge.warning{color:var(--warning);background:var(--warning-bg)}
.badge.info{color:var(--info);background:var(--info-bg)}.badge.ok{color:var(--ok);background:var(--ok-bg)}
.tag{color:var(--soft);border:1px solid var(--line);font-weight:400}
.good{color:var(--ok)}
.crash{border:1px solid var(--error);border-radius:8px;padding:.4rem 1rem}
form{display:flex;flex-wrap:wrap;gap:.5rem 1.4rem;align-items:center;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.6rem .9rem;margin:.8rem 0}
form[hidden]{display:none}
fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
legend{float:left;margin-right:.4rem;padding:0}
input[type=search]{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:6px;padding:.25rem .5rem;width:16rem;max-width:100%}
::placeholder{color:var(--soft);opacity:1}
output{color:var(--soft)}
.finding{border:1px solid var(--line);border-left:4px solid var(--soft);border-radius:6px;padding:.5rem .9rem;margin:.7rem 0}
/* what is far away is laid out when it comes near */
.finding{content-visibility:auto;contain-intrinsic-size:auto 16rem}
.finding.error{border-left-color:var(--error)}.finding.warning{border-left-color:var(--warning)}.finding.info{border-left-color:var(--info)}
.finding:target{outline:3px solid var(--focus)}
.finding h4{margin:.2rem 0;font-size:1rem}
.finding[hidden],.file[hidden]{display:none}
.at{margin:.1rem 0;font-size:.9rem}
.rule{margin-left:.6rem;font-size:.87rem}
.related{margin:.5rem 0 .5rem .9rem}
.why,.fix{font-size:.92rem}
.frame{background:var(--panel);border-radius:6px;margin:.3rem 0;padding:.35rem .6rem;white-space:pre-wrap;line-height:1.45}
.l{display:block;padding-left:3.4em;text-indent:-3.4em;color:var(--soft)}
.l.hit{color:var(--ink)}
.n{display:inline-block;width:3em;margin-right:.4em;text-indent:0;text-align:right;color:var(--soft);user-select:none}
mark{background:var(--mark);color:var(--mark-ink);border-radius:2px;padding:.08em 0}
.scroll{overflow-x:auto;margin:.5rem 0;border:1px solid var(--line);border-radius:8px;max-width:100%}
table{border-collapse:separate;border-spacing:0;overflow-wrap:normal;width:100%;font-size:.87rem}
th,td{padding:.3rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
tbody tr:last-child>*{border-bottom:0}
th{font-weight:600}tbody th{font-weight:400}
thead th{background:var(--panel);vertical-align:bottom}
table.narrow{width:auto;min-width:24rem}
tbody th code,td code{overflow-wrap:anywhere}
:not(.matrix)>tbody>tr>th{min-width:11rem}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums}
tr.blind td{color:var(--soft)}
.matrix{overflow-wrap:normal;width:auto}
.matrix td:not(.wide){white-space:nowrap;font-variant-numeric:tabular-nums}
.matrix .wide{min-width:8rem;max-width:26rem}
.matrix .wide details{margin:0}.matrix .wide summary{padding:0}
.matrix tbody th{min-width:9rem;max-width:22rem;overflow-wrap:anywhere}
.matrix td:not(.wide){padding:.3rem .4rem}
.matrix .up{padding:.4rem .3rem}
.up span{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap;display:inline-block}
.matrix .stick{position:sticky;left:0;background:var(--paper);z-index:1}
.matrix thead .stick{background:var(--panel)}
td.all{background:var(--ok-bg);color:var(--ok);font-weight:600}
td.some{background:var(--info-bg);color:var(--info)}
td.some .of{color:inherit}
td.none{color:var(--soft)}
td.unsure{background:var(--warning-bg);color:var(--warning);font-weight:600}
details{margin:.6rem 0}
summary{cursor:pointer;padding:.2rem 0}
.graph{overflow-x:auto;border:1px solid var(--line);border-radius:8px}
.graph svg{display:block;min-width:760px;max-width:100%;height:auto;margin:0 auto}
footer{margin-top:3rem;padding-bottom:2rem;font-size:.87rem}
@media (max-width:30rem){header,main,footer{padding-left:.8rem;padding-right:.8rem}.finding{padding:.4rem .6rem}.related{margin-left:.2rem}
.l{padding-left:2.4em;text-indent:-2.4em}.n{width:2em}.matrix .stick{max-width:8rem;min-width:6rem}.rule{margin-left:0;display:block}th,td{padding:.3rem .4rem}}
@media print{form,nav,.skip{display:none}.finding{break-inside:avoid}}
`;
