import { build } from "esbuild";
const code=`import { createServer, tool } from "mcparley/server"; import { toFetch } from "mcparley/fetch"; const server=createServer({name:"a",version:"1",tools:{t:tool({call:()=>"x"})}}); export default toFetch(server);`;
const r=await build({stdin:{contents:code,resolveDir:"/work/main/tests"},bundle:true,minify:true,format:"esm",platform:"neutral",write:false,metafile:true,splitting:true,outdir:"/tmp/x",conditions:["import"],mainFields:["module","main"],external:["node:*"],logLevel:"silent"}).catch(e=>{console.log(String(e).slice(0,300));process.exit()});
const first=Object.entries(r.metafile.outputs).find(([,o])=>o.entryPoint); 
const seen=new Set(); const walk=(n)=>{ if(seen.has(n))return; seen.add(n); for(const i of r.metafile.outputs[n].imports) if(i.kind==="import-statement") walk(i.path)}; walk(first[0]);
const by={}; for(const n of seen) for(const [f,{bytesInOutput}] of Object.entries(r.metafile.outputs[n].inputs)) by[f]=(by[f]??0)+bytesInOutput;
console.log(Object.entries(by).sort((a,b)=>b[1]-a[1]).slice(0,45).map(([f,b])=>b+" "+f.replace(/.*packages\//,"")).join("\n"), Object.values(by).reduce((a,b)=>a+b));
