// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page is a fixed text around the curve's JSON; a script in it draws. Nothing is loaded from elsewhere.
#include "tessera/tune/curve/Report.h"
#include "tessera/base/Json.h"

#include <nlohmann/json.hpp>

namespace tessera::tune {

static constexpr std::string_view head = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tessera: what accuracy buys</title>
<style>
body{font:15px/1.45 system-ui,sans-serif;color:#1b2430;background:#fff;max-width:1080px;margin:2em auto;padding:0 1.2em}
h1{font-size:1.6em;margin:0 0 .1em}h2{font-size:1.15em;margin:1.8em 0 .4em}p{margin:.4em 0;max-width:50em}
.sub{color:#5b6675}table{border-collapse:collapse;font-size:13px}td,th{padding:3px 9px;text-align:left;border-bottom:1px solid #e3e8ee}
th{font-weight:600;color:#45505f}td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.map{overflow-x:auto}
.map th.k{writing-mode:vertical-rl;transform:rotate(180deg);vertical-align:bottom;font-weight:400;padding:6px 2px;border:0}
.map td.c{padding:0;width:30px;min-width:30px;height:22px;text-align:center;font-size:10px;border:1px solid #fff}
svg text{font:12px system-ui,sans-serif;fill:#45505f}#tip{position:absolute;display:none;background:#1b2430;color:#fff;font-size:12px;
padding:7px 10px;border-radius:5px;pointer-events:none;max-width:420px;white-space:pre-line}
.legend span{margin-right:1.4em}.dot{display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:5px}
</style></head><body><div id="tip"></div><div id="page"></div>
<script>
)html";

static constexpr std::string_view script = R"html(
const tip=document.getElementById('tip'),page=document.getElementById('page');
const esc=t=>String(t).replace(/[&<>"]/g,c=>({'&':'&amp;','<':'&lt;','>':'&gt;','"':'&quot;'}[c]));
const f=(v,d=2)=>Number(v).toFixed(d);
document.addEventListener('mousemove',e=>{const t=e.target.closest('[data-tip]');if(!t){tip.style.display='none';return}
 tip.textContent=t.dataset.tip;tip.style.display='block';
 tip.style.left=Math.min(e.pageX+14,document.body.clientWidth-300)+'px';tip.style.top=(e.pageY+14)+'px'});
const section=(title,html)=>{const d=document.createElement('section');d.innerHTML='<h2>'+title+'</h2>'+html;page.appendChild(d)};
const chosen=curve.configurations.find(c=>c.name===curve.chosen);
page.innerHTML='<h1>'+esc(curve.network)+'</h1><p class="sub">'+esc(curve.metric)+' on '+esc(curve.data)+': exact '+f(curve.baseline.quality)+
 (curve.metric.startsWith('top-')?' %':'')+' on '+curve.baseline.n+' samples that the search did not see. Losses are paired: the same samples, exact and approximate.</p>';

// One basis of time: a launch of the whole program where it was installed. Until then there are predictions only.
const exact=curve.configurations[0],here=exact.installed,isGraph=Object.keys(curve.shapes).length>0;
const alone=isGraph?'each knob tried alone in the whole program by <code>tessera tune</code>':'each operation timed alone by <code>tessera tune</code>, a batch of '+curve.tuning.batch;
const launch=here?(isGraph?'a launch':'a batch of '+here.batch)+' with '+here.threads+(here.threads==1?' thread':' threads'):'';
page.innerHTML+='<p class="sub">'+(here?'All times are of '+launch+' of the whole program, as it was installed: the exact program takes '+f(here.time_us/1000,3)+' ms at best, and a configuration that over its speed, the median of ratios measured in turns. An operation\'s time is its share of the launch, measured in the same run. Predicted speeds are from '+alone+'.'
 :'Nothing is installed yet: all speeds are predictions, from '+alone+'. <code>tessera install --loss</code> measures them.')+'</p>';
const speed=c=>c.installed?c.installed.speedup:1/c.predicted.cost;
const list=c=>Object.entries(c.knobs).map(([o,k])=>o+': '+k).join('\n')||'all operations exact';
const base=exact.predicted.quality;
const points=[];
for(const c of curve.configurations){
 if(!c.measured||!c.installed)points.push({x:c.measured?c.measured.loss:base-c.predicted.quality,y:1/c.predicted.cost,hi:c.measured?c.measured.loss_hi:undefined,kind:c.measured?'half':'predicted',c});
 else points.push({x:c.measured.loss,y:speed(c),hi:c.measured.loss_hi,slow:c.installed.speedup_lo,fast:c.installed.speedup_hi,kind:c.shipped?'shipped':'measured',c});
}
const W=980,H=380,L=76,B=44,T=16,R=20,xs=points.map(p=>Math.max(p.x,p.hi||0)),x0=Math.min(0,...points.map(p=>p.x))-0.1,x1=Math.max(...xs)+0.1,
 y0=Math.min(0.9,...points.map(p=>p.slow||p.y)),y1=Math.max(...points.map(p=>p.fast||p.y))*1.06;
const X=v=>L+(v - x0)/(x1 - x0)*(W-L-R),Y=v=>H-B-(v - y0)/(y1 - y0)*(H-B-T);
const colour={predicted:'#9aa6b4',half:'#9aa6b4',measured:'#3b7dd8',shipped:'#1d9a5f'};
const words={predicted:'loss and speed predicted',half:'loss measured, speed predicted',measured:'measured here, not shipped: another one is faster and loses no more',shipped:'measured here and shipped'};
let g='';
const step=(a,b)=>{const raw=(b-a)/7,m=10**Math.floor(Math.log10(raw));return [1,2,5,10].map(k=>k*m).find(s=>s>=raw)};
for(let s=step(x0,x1),v=Math.ceil(x0/s)*s;v<=x1;v+=s)g+=`<line x1="${X(v)}" x2="${X(v)}" y1="${T}" y2="${H-B}" stroke="#eef1f5"/><text x="${X(v)}" y="${H-B+17}" text-anchor="middle">${+v.toFixed(6)}</text>`;
for(let s=step(y0,y1),v=Math.ceil(y0/s)*s;v<=y1;v+=s)g+=`<line x1="${L}" x2="${W-R}" y1="${Y(v)}" y2="${Y(v)}" stroke="#eef1f5"/><text x="${L-8}" y="${Y(v)+4}" text-anchor="end">${+v.toFixed(6)}</text>`;
g+=`<text x="${(L+W)/2}" y="${H-6}" text-anchor="middle">loss, points of ${esc(curve.metric)}</text><text transform="translate(14 ${H/2}) rotate(-90)" text-anchor="middle">times as fast as exact</text>`;
for(const p of points){const t=esc(p.c.name+(p.c.name===curve.chosen?' (runs by default)':'')+', '+words[p.kind]+'\n'+f(p.y)+' times as fast'+(p.slow!==undefined?' ('+f(p.slow)+' to '+f(p.fast)+')':', predicted')+', loss '+f(p.x)+' points'+(p.hi!==undefined?', below '+f(p.hi)+' with '+f(100*curve.confidence,0)+' % confidence':'')+'\n'+list(p.c));
 const bar=(x,x2,y,y2)=>`<line x1="${X(x)}" x2="${X(x2)}" y1="${Y(y)}" y2="${Y(y2)}" stroke="${colour[p.kind]}" stroke-opacity=".45" stroke-width="2"/>`;
 if(p.hi!==undefined)g+=bar(p.x,p.hi,p.y,p.y);
 if(p.slow!==undefined)g+=bar(p.x,p.x,p.slow,p.fast);
 const isOpen=p.slow===undefined;
 g+=`<circle cx="${X(p.x)}" cy="${Y(p.y)}" r="${p.c.name===curve.chosen?8:5}" fill="${isOpen?'#fff':colour[p.kind]}" stroke="${colour[p.kind]}" stroke-width="2"${isOpen?' stroke-dasharray="2.5 2"':''} data-kind="${p.kind}" data-tip="${t}"/>`}
const dots={predicted:'border:2px dashed #9aa6b4;width:7px;height:7px',measured:'background:#3b7dd8',shipped:'background:#1d9a5f'};dots.half=dots.predicted;
section('The trade-off','<p class="legend">'+Object.keys(words).filter(k=>points.some(p=>p.kind===k)).map(k=>'<span><i class="dot" style="'+dots[k]+'"></i>'+words[k]+'</span>').join('')+'<span class="sub">bars end at the '+f(100*curve.confidence,0)+' % upper bound on the loss'+(here?', and at the '+f(100*curve.confidence,0)+' % interval of the speed':'')+'</span></p><svg viewBox="0 0 '+W+' '+H+'" width="100%">'+g+'</svg>');

// Sensitivity. Where an operation was timed alone, the sum of all such times is what its share is of.
const knobs=[...new Set(curve.operations.flatMap(o=>Object.keys(o.knobs)))];
const worst=Math.max(0.01,...curve.operations.flatMap(o=>Object.values(o.knobs).map(k=>-k.quality_change)));
const all=curve.operations.reduce((s,o)=>s+o.time_us,0)||1;
const shareOf=(c,o)=>c.installed&&c.installed.shares?c.installed.shares[o.name]:undefined;
const aloneOf=o=>isGraph?undefined:o.time_us/all;
const percent=v=>v===undefined?'–':f(100*v,1)+' %';
let m='<table><tr><th>operation</th><th class="n">'+(here?'of the exact launch':'of the time, timed alone')+'</th>'+knobs.map(k=>'<th class="k">'+esc(k)+'</th>').join('')+'</tr>';
for(const o of curve.operations){m+='<tr><td>'+esc(o.name)+' <span class="sub">'+esc(o.kind)+'</span></td><td class="n">'+percent(here?shareOf(exact,o):aloneOf(o))+'</td>';
 for(const k of knobs){const r=o.knobs[k];if(!r){m+='<td class="c" style="background:#f5f7f9" data-tip="not faster when it was tried, or not one of its knobs"></td>';continue}
  const s=Math.max(0,Math.min(1,Math.sqrt(Math.max(0,-r.quality_change)/worst)));
  m+=`<td class="c" style="background:rgb(${Math.round(214+36*s)},${Math.round(240-150*s)},${Math.round(222-140*s)})" data-tip="${esc(o.name+' with '+k+' alone\nquality '+(r.quality_change>0?'+':'')+f(r.quality_change)+' points\n'+(isGraph?'':'own error '+f(100*r.error)+' %\n')+(r.time_us>0&&o.time_us>0?(isGraph?'the whole program ':'timed alone ')+f(o.time_us/r.time_us)+' times as fast, by tune':'not timed'))}">${f(r.quality_change,1)}</td>`}
 m+='</tr>'}
section('How sensitive each operation is','<p class="sub">Change of quality in points when this operation alone runs under a knob.</p><div class="map">'+m+'</table></div>');

// What each layer was given. Rows and the rest add up to the launch.
const ms=v=>f(v/1000,3)+' ms',two=here&&chosen.installed;
const timeOf=(c,o)=>{const s=shareOf(c,o);return s===undefined?undefined:s*c.installed.time_us};
const cell=v=>'<td class="n">'+(v===undefined?'–':ms(v))+'</td>';
let w='<table><tr><th>operation</th><th>given</th>'+(two?'<th class="n">exact</th><th class="n">now</th>':'')+'<th>why</th></tr>',rest=[here?here.time_us:0,two?chosen.installed.time_us:0];
for(const o of curve.operations){const k=chosen.knobs[o.name],r=k&&o.knobs[k],t0=here?timeOf(exact,o):undefined,t1=two?timeOf(chosen,o):undefined;let why;
 rest[0]-=t0||0;rest[1]-=t1||0;
 const part=here?shareOf(exact,o):aloneOf(o);
 if(k){const own=r?f(-r.quality_change)+' points lost when it is the only one':'chosen with the others';
  if(here&&(t0===undefined||t1===undefined))why='a part of another operation in one of the two programs; '+own;
  else if(here)why=t1>1.02*t0?f(t1/t0)+' times as slow here by itself'+(speed(chosen)>1.02?', but the configuration as a whole is faster'+(/^int/.test(k)?': neighbours in int8 need not convert what it gives':''):'')+'; '+own:f(t0/t1)+' times as fast here, '+f(100*(t0 - t1)/here.time_us,1)+' % of the launch saved; '+own;
  else why=(r&&r.time_us>0?f(o.time_us/r.time_us)+' times as fast '+(isGraph?'in all':'when timed alone')+'; ':'')+own}
 else if(Object.values(o.knobs).every(r=>r.time_us>=0.97*o.time_us))why='no knob was faster when it was '+(isGraph?'tried':'timed alone');
 else if(part===undefined)why='kept exact: approximating it would cost accuracy better spent elsewhere';
 else why='kept exact: it takes '+f(100*part,1)+' % of the time, and approximating it would cost accuracy better spent elsewhere';
 w+='<tr><td>'+esc(o.name)+'</td><td>'+esc(k||'exact')+'</td>'+(two?cell(t0)+cell(t1):'')+'<td>'+why+'</td></tr>'}
if(two)w+='<tr><td class="sub">all else: copies between layouts, operations without knobs</td><td></td>'+cell(rest[0])+cell(rest[1])+'<td></td></tr><tr><th>the launch</th><td></td>'+cell(here.time_us)+cell(chosen.installed.time_us)+'<td>'+f(speed(chosen))+' times as fast</td></tr>';
section('What each operation was given in '+esc(curve.chosen),Object.keys(chosen.knobs).length?w+'</table>':'<p class="sub">Nothing: this is the exact program. '+(here?'No other one within the goal was faster here.':'<code>tessera install --loss</code> chooses one.')+'</p>');

// All configurations.
let a='<table><tr><th></th><th class="n">times as fast'+(here?'':', predicted')+'</th><th class="n">time</th><th class="n">energy</th><th class="n">quality</th><th class="n">loss</th><th class="n">at most</th><th class="n">quality, predicted</th><th class="n">operations</th></tr>';
for(const c of curve.configurations)a+='<tr data-tip="'+esc(list(c))+'"><td>'+esc(c.name)+(c.shipped?' · shipped':'')+'</td><td class="n">'+f(speed(c))+(c.installed?' ('+f(c.installed.speedup_lo)+' to '+f(c.installed.speedup_hi)+')':here?', predicted':'')+'</td><td class="n">'+(c.installed?ms(c.installed.time_us):'–')+'</td><td class="n">'+(c.installed?f(1000*c.installed.energy_j)+' ('+f(1000*c.installed.energy_lo)+' to '+f(1000*c.installed.energy_hi)+') mJ '+esc(c.installed.energy_source):'–')+'</td><td class="n">'+(c.measured?f(c.measured.quality):'–')+'</td><td class="n">'+(c.measured?f(c.measured.loss):'–')+'</td><td class="n">'+(c.measured?f(c.measured.loss_hi):'–')+'</td><td class="n">'+f(c.predicted.quality)+' ('+f(c.predicted.lo)+' to '+f(c.predicted.hi)+')</td><td class="n">'+Object.keys(c.knobs).length+'</td></tr>';
section('Configurations',a+'</table>');

// The controller.
if(timeline.length){const n=timeline.length,ms=timeline.map(t=>t.ms),top=Math.max(...ms,...timeline.map(t=>t.goal_ms||0))*1.1,names=curve.configurations.filter(c=>c.shipped).map(c=>c.name);
 const TX=i=>L+i/Math.max(1,n-1)*(W-L-R),TY=v=>210-v/top*180,CY=c=>250+names.indexOf(c)/Math.max(1,names.length-1)*90;let t='';
 t+=`<polyline fill="none" stroke="#3b7dd8" stroke-width="1.2" points="${ms.map((v,i)=>TX(i)+','+TY(v)).join(' ')}"/>`;
 const goal=timeline.find(e=>e.goal_ms);if(goal)t+=`<line x1="${L}" x2="${W-R}" y1="${TY(goal.goal_ms)}" y2="${TY(goal.goal_ms)}" stroke="#d2453d" stroke-dasharray="5 4"/><text x="${W-R}" y="${TY(goal.goal_ms)-5}" text-anchor="end">goal ${f(goal.goal_ms)} ms</text>`;
 let d='';timeline.forEach((e,i)=>{d+=(i?' L':'M')+TX(i)+','+CY(timeline[Math.max(0,i-1)].configuration)+' L'+TX(i)+','+CY(e.configuration)});
 t+=`<path d="${d}" fill="none" stroke="#1d9a5f" stroke-width="2"/>`;names.forEach(c=>t+=`<text x="${L-8}" y="${CY(c)+4}" text-anchor="end">${esc(c)}</text>`);
 timeline.forEach((e,i)=>{if(e.cause)t+=`<circle cx="${TX(i)}" cy="${CY(e.configuration)}" r="5" fill="#fff" stroke="#1d9a5f" stroke-width="2" data-tip="${esc('batch '+e.batch+': '+e.configuration+'\n'+e.cause)}"/>`});
 t+=`<text x="${L-8}" y="${TY(top/1.1)}" text-anchor="end">${f(top/1.1,1)} ms</text><text x="${L-8}" y="214" text-anchor="end">0</text>`;
 section('What the controller did',`<p class="sub">Time of each batch, and the configuration it ran; circles are adaptations, hover for their cause.</p><svg viewBox="0 0 ${W} 360" width="100%">${t}</svg>`)}

const u=curve.tuning;
section('What tuning cost','<table><tr><td>samples for the search, for validation</td><td class="n">'+u.images+', '+u.validated+'</td></tr><tr><td>profiles</td><td class="n">'+f(u.profile_s,1)+' s</td></tr><tr><td>search</td><td class="n">'+f(u.search_s)+' s</td></tr><tr><td>validation</td><td class="n">'+f(u.validate_s,1)+' s</td></tr><tr><td>runs over samples</td><td class="n">'+u.evaluations+'</td></tr><tr><td>mean error of predictions</td><td class="n">'+f(u.prediction_error)+' points</td></tr><tr><td>scale by which predicted errors add</td><td class="n">'+f(u.scale)+'</td></tr><tr><td>seed</td><td class="n">'+u.seed+'</td></tr></table><p class="sub">Program '+esc(curve.program.slice(0,16))+'…</p>');
</script></body></html>
)html";

// In a script element, "</script>" ends it wherever it stands.
static std::string embedded(std::string json) {
  for (size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3)
    json.insert(at + 1, "\\");
  return json;
}

Result<std::string> reportPage(const Curve &curve, std::string_view timeline) {
  nlohmann::json lines = nlohmann::json::array();
  for (size_t begin = 0, number = 1; begin < timeline.size(); ++number) {
    const size_t end = std::min(timeline.find('\n', begin), timeline.size());
    nlohmann::json line = parseJson(timeline.substr(begin, end - begin));
    auto has = [&](const char *name, auto is) { return line.contains(name) && (line[name].*is)(); };
    using Json = nlohmann::json;
    if (!line.is_object() || !has("batch", &Json::is_number) || !has("ms", &Json::is_number) ||
        !has("configuration", &Json::is_string))
      return fail(StatusCode::InvalidArgument, "line ", number,
                  " is not one that 'tessera eval --log' writes");
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return concat(head, "const curve=", embedded(curveJson(curve)),
                ";\nconst timeline=", embedded(dumpJson(lines)), ";\n", script);
}

} // namespace tessera::tune
