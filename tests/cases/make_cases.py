#!/usr/bin/env python3
# Builds the monitor fixtures described in the notes on observability, section 6: one folder a case, modification
# times set, beside it <case>.expected.json with the verdict: severity ok|warning|error|unknown and the codes of the findings.
# usage: make_cases.py OUTDIR   -> OUTDIR/<id>/{table files...}  + OUTDIR/<id>.expected.json ; mtimes are set.
import os,sys,json,struct,shutil
T0=1767225600                                  # 2026-01-01T00:00:00Z
def iso(s,tz='Z'):
    import datetime;return datetime.datetime.fromtimestamp(T0+s,datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S')+tz
# ---------- tiny parquet writer (thrift compact, DataPageV1, PLAIN, uncompressed) ----------
def uv(n):
    o=b''
    while True:
        if n<128:return o+bytes([n])
        o+=bytes([n&127|128]);n>>=7
def zz(n):return uv((n<<1)^(n>>63))
class S:                                        # struct builder
    def __init__(s):s.b=b'';s.l=0
    def f(s,i,t,raw):
        d=i-s.l;s.b+=(bytes([d<<4|t]) if 0<d<16 else bytes([t])+zz(i))+raw;s.l=i;return s
    def i32(s,i,v):return s.f(i,5,zz(v))
    def i64(s,i,v):return s.f(i,6,zz(v))
    def bin(s,i,v):
        v=v.encode() if isinstance(v,str) else v;return s.f(i,8,uv(len(v))+v)
    def boo(s,i,v):return s.f(i,1 if v else 2,b'')
    def st(s,i,x):return s.f(i,12,x.end())
    def li(s,i,t,items):
        n=len(items);h=bytes([n<<4|t]) if n<15 else bytes([0xf0|t])+uv(n);return s.f(i,9,h+b''.join(items))
    def end(s):return s.b+b'\0'
PT={'bool':0,'int32':1,'int64':2,'int96':3,'float':4,'double':5,'binary':6}
def logical(kind):
    L=S()
    if kind=='string':L.st(1,S());c=0
    elif kind=='date':L.st(6,S());c=6
    elif kind.startswith('ts'):                 # ts_ms_utc, ts_us_utc, ts_us_local, ts_ns_utc
        _,u,z=kind.split('_');L.st(8,S().boo(1,z=='utc').st(2,S().st({'ms':1,'us':2,'ns':3}[u],S())));c={'ms':9,'us':10,'ns':None}[u]
        if z!='utc':c=None
    elif kind.startswith('dec'):
        _,p,s=kind.split('_');L.st(5,S().i32(1,int(s)).i32(2,int(p)));c=5
    else:raise Exception(kind)
    return L,c
def parquet(cols,rows,codec=0):
    """cols: (name, phys, logical|None, optional, values|None, field_id|None)"""
    out=b'PAR1';ch=[];tot=0
    for nm,ph,lg,opt,vals,fid in cols:
        vals=vals if vals is not None else [None]*rows
        nn=[v for v in vals if v is not None]
        enc={'int32':lambda v:struct.pack('<i',v),'int64':lambda v:struct.pack('<q',v),'double':lambda v:struct.pack('<d',v),'float':lambda v:struct.pack('<f',v),
             'int96':lambda v:struct.pack('<qI',0,v),'binary':lambda v:struct.pack('<I',len(v))+v.encode()}.get(ph)
        if ph=='bool':
            body=b'';acc=[1 if v else 0 for v in nn]
            for k in range(0,len(acc),8):body+=bytes([sum(b<<j for j,b in enumerate(acc[k:k+8]))])
        else:body=b''.join(enc(v) for v in nn)
        if opt:
            r=b''
            for v in vals:r+=uv(1<<1)+bytes([0 if v is None else 1])
            body=struct.pack('<I',len(r))+r+body
        ph_=S().i32(1,0).i32(2,len(body)).i32(3,len(body)).st(5,S().i32(1,rows).i32(2,0).i32(3,3).i32(4,3)).end()
        off=len(out);out+=ph_+body;sz=len(ph_)+len(body);tot+=sz
        stt=S().i64(3,rows-len(nn))
        if nn and ph in('int32','int64','double'):stt.bin(5,enc(max(nn))).bin(6,enc(min(nn)))
        elif nn and ph=='binary':stt.bin(5,max(nn)).bin(6,min(nn))
        md=S().i32(1,PT[ph]).li(2,5,[zz(0),zz(3)]).li(3,8,[uv(len(nm.encode()))+nm.encode()]).i32(4,0).i64(5,rows).i64(6,sz).i64(7,sz).i64(9,off).st(12,stt)
        ch.append(S().i64(2,off).st(3,md).end())
    sc=[S().bin(4,'schema').i32(5,len(cols)).end()]
    for nm,ph,lg,opt,vals,fid in cols:
        e=S().i32(1,PT[ph]).i32(3,1 if opt else 0).bin(4,nm)
        if lg:
            L,c=logical(lg)
            if c is not None:e.i32(6,c)
            if lg.startswith('dec'):_,p,s=lg.split('_');e.i32(7,int(s)).i32(8,int(p))
            if fid:e.i32(9,fid)
            e.st(10,L)
        elif fid:e.i32(9,fid)
        sc.append(e.end())
    ft=S().i32(1,1).li(2,12,sc).i64(3,rows).li(4,12,[S().li(1,12,ch).i64(2,tot).i64(3,rows).end()] if rows else []).bin(6,'tarn-fixture').end()
    return out+ft+struct.pack('<I',len(ft))+b'PAR1'
UID=('user_id','int64',None,False,[1000,5000],None);EVT=('event_type','binary','string',False,['view','click'],None);DUR=('duration_seconds','double',None,True,[1.5,None],None)
GOOD=parquet([UID,EVT,DUR],2)
J=lambda o:json.dumps(o)+'\n'
CASES=[]
def case(i,why,fls,severity,findings,now=3600,**kw):CASES.append(dict(id=i,why=why,files=fls,now=T0+now,expected=dict(severity=severity,findings=findings,**kw)))
# ---------- native ----------
SCH={"current_version":3,"schema":{"type":"struct","fields":[{"name":"user_id","type":"int64","nullable":False},{"name":"event_type","type":"string","nullable":False},{"name":"duration_seconds","type":"double","nullable":True}]},
     "versions":[{"version":1,"schema":{"type":"struct","fields":[{"name":"user_id","type":"int64","nullable":False},{"name":"event_type","type":"string","nullable":False}]}},
                 {"version":2,"schema":{"type":"struct","fields":[{"name":"user_id","type":"int64","nullable":False},{"name":"event_type","type":"string","nullable":False},{"name":"duration","type":"int32","nullable":True}]}}]}
def add(p,h=14,size=None):return {"type":"add_file","path":p,"size":len(GOOD) if size is None else size,"partitionValues":{"date":"2026-01-01","hour":h}}
def txn(n,t,ops,name=None,idv=None):return ('_transactions/%s.json'%(name or 'txn-%d'%n),t,J({"id":idv or "txn-%d"%n,"timestamp":iso(t),"operations":ops,"commitMetadata":{"author":"stream-processor"}}))
def man(v,lu,paths,t=600,**kw):
    m={"version":v,"last_updated":lu,"files":[{"path":p,"size":kw.get('size',len(GOOD)),"partitionValues":{"date":"2026-01-01","hour":14},"columnStats":{"user_id":{"min":1000,"max":5000}}} for p in paths]}
    if lu is None:del m["last_updated"]
    return ('manifest.json',t,J(m))
def P(n):return 'date=2026-01-01/hour=14/data-%06d.parquet'%n
def pq(n,t,b=GOOD):return (P(n),t,b)
def base(k=2,lu=600,extra=[],lc=None,ptrs='txn-%d\n'):
    return [('schema.json',0,J(SCH)),('last_committed_txn',lu,(lc if lc is not None else ptrs%k))]+extra
def std(k,lu=600):return base(k,lu)+[txn(i,lu-60*(k-i)-5,[add(P(i))]) for i in range(1,k+1)]+[pq(i,lu-60*(k-i)-10) for i in range(1,k+1)]+[man(k,iso(lu),[P(i) for i in range(1,k+1)],lu)]
rep=lambda fs,*new:[f for f in fs if f[0] not in {n[0] for n in new}]+list(new)
drop=lambda fs,*names:[f for f in fs if f[0] not in names]
case('N01-healthy','control',std(2),'ok',[],manifest_age_seconds=-10,manifest_age='0s',files=2,version=2,latest_transaction='txn-2')
case('N02-stale-manifest','seed failure; iceberg#15293 shape: data lands, metadata does not',std(2)+[pq(3,683)],'warning',['manifest_age','unregistered_data_file'],manifest_age_seconds=83,manifest_age='1m23s',warnings_contain=['manifest_age > 1m'])
case('N03-mtime-only','delta#192/#1293: copy or touch changes mtime of a registered file',rep(std(2),pq(2,683)),'warning',['manifest_age'],manifest_age_seconds=83,note='a registered file changed after the manifest was written: the metric fires, no unregistered file')
case('N04-missing-entry','hole at or below last_committed',drop(std(5),'_transactions/txn-3.json'),'warning',['missing_transaction_log_entry'],warnings_contain=['missing_transaction_log_entry: txn-3'],latest_transaction='txn-5')
case('N05-gap-above','log has 1,2,4 but last_committed=2 (batch 3 missed, 4 uncommitted)',rep(std(2),txn(4,900,[add(P(4))]),pq(4,895)),'warning',['transaction_gap','uncommitted_transaction','manifest_age','unregistered_data_file'],latest_transaction='txn-2')
case('N07-partial-commit-in-grace','same, 20 s old -> not yet a finding',rep(std(2),txn(3,900,[add(P(3))]),pq(3,895)),'ok',[],now=920,pending_transactions=1,manifest_age_seconds=295,note='literal manifest_age jumps to 295 s the moment a new file lands after a quiet period; alert on registration lag (now - mtime of oldest unregistered file = 25 s), not on the raw value')
case('N09-lost-update','two writers raced; manifest lacks the file of committed txn-2',rep(std(3),man(3,iso(600),[P(1),P(3)])),'error',['committed_file_not_in_manifest'])
case('N11-duplicate-add','same path added twice: iceberg-python#998/#2130, iceberg#2735',rep(std(2),txn(3,590,[add(P(2))]),('last_committed_txn',600,'txn-3\n'),man(3,iso(600),[P(1),P(2),P(2)])),'warning',['duplicate_file'],files=2)
case('N12-pointer-crlf','CRLF and BOM around the id are tolerated',rep(std(2),('last_committed_txn',600,'\ufefftxn-2\r\n')),'ok',[])
case('N14-numeric-order','txn-9 then txn-10: sort as integers',[f for f in std(10)],'ok',[],latest_transaction='txn-10')
case('N16-no-last-updated','manifest shaped as in the seed example',rep(std(2),man(2,None,[P(1),P(2)])),'ok',['manifest_last_updated_missing:info'],manifest_age_seconds=-10)
case('N17-offset-time','+09:00 is honoured',rep(std(2),man(2,iso(600+9*3600,'+09:00'),[P(1),P(2)])),'ok',[],manifest_age_seconds=-10)
case('N18-naive-time','no zone: UTC assumed, flagged (CoreScope#1463, domoticz#1871)',rep(std(2),man(2,iso(600,''),[P(1),P(2)])),'ok',['naive_timestamp:info'],manifest_age_seconds=-10)
case('N20-epoch-ms','last_updated as epoch milliseconds (dbt-fusion#805: unit mix-up gave an age of 5.8e11 years)',rep(std(2),man(2,(T0+600)*1000,[P(1),P(2)])),'ok',[],manifest_age_seconds=-10)
case('N21-staging-backlog','12 staged batches, 4 processed, oldest unprocessed waits 1950 s',std(2)+[('staging/2026-01-01/00/batch-%06d.parquet'%i,1500+30*i,GOOD) for i in range(1,13)]+[('processed/batch-%06d.json'%i,1600+30*i,J({"batch_id":"batch-%06d.parquet"%i,"status":"completed","start_time":iso(1600),"end_time":iso(1620),"num_records":2})) for i in range(1,5)],'warning',['staging_backlog','processed_without_result:info'],staging_files=8,staging_oldest_seconds=3600-1650,manifest_age_seconds=-10)
case('N23-merge-stuck','processed marker still "running" after 50 min',std(2)+[('processed/batch-000009.json',600,J({"batch_id":"batch-000009.parquet","status":"running","start_time":iso(590),"end_time":None,"num_records":None})),('staging/2026-01-01/00/batch-000009.parquet',580,GOOD)],'warning',['merge_stuck','staging_backlog'])
case('N24-missing-data-file','listed but absent (delta#174, iceberg#8338)',drop(std(2),P(1)),'error',['missing_data_file'])
case('N25-size-mismatch','listed size differs from storage',rep(std(2),pq(1,500,GOOD+b'x')),'error',['size_mismatch','corrupt_data_file'])
case('N27-surprise-null','seed 003: new file has device_type, registered schema does not',rep(std(2),pq(2,590,parquet([UID,EVT,DUR,('device_type','binary','string',True,['m','d'],None)],2))),'warning',['schema_drift.extra_column','size_mismatch'])
case('N28-missing-column','new file lacks duration_seconds although schema v3 is older than the file',rep(std(2),pq(2,590,parquet([UID,EVT],2))),'warning',['schema_drift.missing_column','size_mismatch'])
case('N29-int32-file','user_id written as int32, registered int64: safe widening',rep(std(2),pq(2,590,parquet([('user_id','int32',None,False,[1,2],None),EVT,DUR],2))),'ok',['schema_drift.widened:info','size_mismatch'])
case('N31-case-only','User_ID vs user_id (SPARK-25132: silent NULL)',rep(std(2),pq(2,590,parquet([('User_ID','int64',None,False,[1,2],None),EVT,DUR],2))),'warning',['schema_drift.renamed_case','size_mismatch'])
case('N32-null-in-required','OPTIONAL event_type with 1 null for a non-nullable column',rep(std(2),pq(2,590,parquet([UID,('event_type','binary','string',True,['a',None],None),DUR],2))),'error',['schema_drift.null_in_required','size_mismatch'])
case('N33-optional-no-nulls','OPTIONAL but null_count=0: writers do this by habit',rep(std(2),pq(2,590,parquet([('user_id','int64',None,True,[1,2],None),EVT,DUR],2))),'ok',['size_mismatch'])
case('N35-temp-leftovers','manifest.json.tmp, _temp/x.parquet, .hidden.parquet never count',std(2)+[('manifest.json.tmp',1200,'{'),('_temp/x.parquet',1300,GOOD),('.hidden.parquet',1300,GOOD),('date=2026-01-01/hour=14/_SUCCESS',1300,'')],'ok',['leftover_temp:info'],manifest_age_seconds=-10)
# size_mismatch in N27-N34 comes from using one GOOD size in log+manifest: make sizes right
for c in CASES:
    d={f[0]:len(f[2]) for f in c['files'] if f[0].endswith('.parquet')}
    if c['id'].startswith('N25'):continue
    nf=[]
    for n,t,b in c['files']:
        if n=='manifest.json' or n.startswith('_transactions/'):
            try:
                o=json.loads(b)
                for e in o.get('files',[])+o.get('operations',[]):
                    if e.get('path') in d and 'size' in e:e['size']=d[e['path']]
                b=J(o)
            except ValueError:pass
        nf.append((n,t,b))
    c['files']=nf;c['expected']['findings']=[x for x in c['expected']['findings'] if x!='size_mismatch']
# ---------- parquet single files inside a hive table ----------
def hive(i,why,b,status,f,**kw):case(i,why,[('date=2026-01-01/part-0.parquet',100,GOOD),('date=2026-01-01/part-1.parquet',200,b)],status,f,**kw)
hive('P01-magic-only','hudi#4184: 4-byte file',b'PAR1','error',['corrupt_data_file'])
hive('P03-truncated','cut in the middle (iceberg#10005, gluten#9844)',GOOD[:len(GOOD)//2],'error',['corrupt_data_file'])
hive('P05-footer-len-zero','12 bytes',b'PAR1'+b'\0\0\0\0'+b'PAR1','error',['corrupt_data_file'])
hive('P07-not-parquet','text under a .parquet name',b'hello world, not parquet','error',['corrupt_data_file'])
hive('P08-huge-list','schema list claims 2^31 elements',b'PAR1'+(lambda f:f+struct.pack('<I',len(f))+b'PAR1')(b'\x15\x02\x19\xfc\xff\xff\xff\xff\x07'),'error',['corrupt_data_file'])
hive('P10-empty-rows','valid, 0 rows',parquet([('user_id','int64',None,False,[],None),('event_type','binary','string',False,[],None),('duration_seconds','double',None,True,[],None)],0),'ok',[])
hive('P11-partition-col-inside','file also stores date (amoro#527, kafka-connect-hdfs#603)',parquet([UID,EVT,DUR,('date','binary','string',True,['2026-01-01','2026-01-01'],None)],2),'ok',['partition_column_in_file:info'])
case('P12-summary-files','_metadata/_SUCCESS/.crc are not data',[('date=2026-01-01/part-0.parquet',100,GOOD),('_metadata',300,b'PAR1'),('_common_metadata',300,b'PAR1'),('_SUCCESS',300,b''),('date=2026-01-01/.part-0.parquet.crc',300,b'crc\0')],'ok',[])
# ---------- delta ----------
V=lambda n:'_delta_log/%020d'%n
ci=lambda n,t=None:{"commitInfo":{"timestamp":(T0+(60*n if t is None else t))*1000,"operation":"WRITE","operationParameters":{}}}
PR={"protocol":{"minReaderVersion":1,"minWriterVersion":2}};PV2={"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint"]}}
PCM={"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogManaged","v2Checkpoint"],"writerFeatures":["catalogManaged","inCommitTimestamp","v2Checkpoint"]}}
def MD(conf={},part=[]):return {"metaData":{"id":"a1b2c3d4-0000-4000-8000-000000000001","format":{"provider":"parquet","options":{}},"schemaString":json.dumps({"type":"struct","fields":[{"name":"user_id","type":"long","nullable":False,"metadata":{}},{"name":"event_type","type":"string","nullable":False,"metadata":{}},{"name":"duration_seconds","type":"double","nullable":True,"metadata":{}}]}),"partitionColumns":part,"configuration":conf,"createdTime":T0*1000}}
ad=lambda n,p=None,t=None:{"add":{"path":p or "part-%05d.parquet"%n,"partitionValues":{},"size":len(GOOD),"modificationTime":(T0+60*n)*1000,"dataChange":True,"stats":json.dumps({"numRecords":2})}}
nd=lambda *a:''.join(json.dumps(x)+'\n' for x in a)
def dcommit(n,pr=PR,first=None):return (V(n)+'.json',60*n,nd(*( [ci(n)]+([pr,MD()] if n==0 else [])+[ad(n)])))
dfile=lambda n:('part-%05d.parquet'%n,60*n-5,GOOD)
UU='80a083e8-7026-4e79-81be-64bd76c43a11'
def ckpt(v,live,pr=PV2):return (V(v)+'.checkpoint.%s.json'%UU,60*v+5,nd({"checkpointMetadata":{"version":v}},pr,MD(),*[ad(i) for i in live]))
def dtab(vs,pr=PV2):return [dcommit(v,pr) for v in vs]+[dfile(v) for v in range(0,max(vs)+1)]
case('D01-healthy','control, 3 commits',dtab(range(3),PR),'ok',[],version=2,files=3)
case('D02-cleaned-prefix','delta#606/#255/PR#4146: old log removed up to checkpoint 10',dtab(range(10,13))+[ckpt(10,range(11))],'ok',['history_truncated:info'],version=12,files=13,oldest_version=10)
case('D04-hole-above-ckpt','delta-rs table_c twin: 12 missing',dtab([v for v in range(14) if v!=12])+[ckpt(10,range(11))],'error',['log_gap'],missing_versions=[12])
case('D06-no-zero-no-ckpt','delta-rs#3692/#2174: cleanup removed too much',dtab([5,6,7],PR),'error',['log_unreconstructable'])
case('D08-uuid-name-in-log','delta PR#3552: <v>.<uuid>.json directly in _delta_log is not a commit',dtab(range(3),PR)+[('_delta_log/%020d.%s.json'%(3,UU),190,nd(ci(3),ad(3))),('_delta_log/_commit_%s.json.tmp'%UU,190,'{'),('_delta_log/.%020d.json.crc'%2,125,b'crc\0')],'ok',[],version=2)
case('D09-staged-only','catalogManaged: staged commits prove nothing',[ (V(0)+'.json',0,nd({"commitInfo":{"timestamp":T0*1000,"inCommitTimestamp":T0*1000,"operation":"CREATE TABLE","operationParameters":{}}},PCM,MD({"delta.enableInCommitTimestamps":"true"}))),('_delta_log/_staged_commits/%020d.%s.json'%(1,UU),60,nd(ci(1),ad(1))),('_delta_log/_staged_commits/%020d.%s.json'%(1,'3a0d65cd-4056-49b8-937b-95f9e3ee90e5'),61,nd(ci(1),ad(1)))],'unknown',['catalog_managed:info'],version=0)
case('D11-zero-byte-in-grace','same, 10 s after write',rep(dtab(range(3),PR),(V(2)+'.json',120,'')),'ok',[],now=130,pending_transactions=1)
case('D12-lastckpt-empty','0-byte _last_checkpoint',dtab(range(12))+[ckpt(10,range(11)),('_delta_log/_last_checkpoint',610,'')],'ok',['checkpoint_hint_bad:info'],version=11)
case('D14-multipart-incomplete','kernel-rs#497: part 2 of 2 missing -> ignore checkpoint, 0.json exists',dtab(range(12),PR)+[(V(10)+'.checkpoint.0000000001.0000000002.parquet',610,GOOD)],'ok',['checkpoint_incomplete:info'],version=11)
case('D16-mtime-shuffle','delta#2532: copied table, mtimes reversed, commitInfo right',[(n,(9000-t if n.startswith('_delta_log') else t),b) for n,t,b in dtab(range(3),PR)],'ok',[],last_commit=T0+120,now=9100)
case('D17-missing-data','delta#174/#3436: live add, file gone',drop(dtab(range(3),PR),'part-00001.parquet'),'error',['missing_data_file'])
case('D18-removed-vacuumed','removed and vacuumed: not missing',drop(dtab(range(3),PR),'part-00000.parquet')+[(V(3)+'.json',180,nd(ci(3),{"remove":{"path":"part-00000.parquet","deletionTimestamp":(T0+180)*1000,"dataChange":True}}))],'ok',[],files=2,version=3)
case('D20-orphan','unreferenced file older than 7 d retention',dtab(range(3),PR)+[('part-99999.parquet',-10*86400,GOOD)],'ok',['orphan_file:info'],orphan_files=1)
case('D21-fresh-uncommitted','unreferenced but 30 s old: writer in flight, never orphan (iceberg#4194, #12545)',dtab(range(3),PR)+[('part-99999.parquet',3570,GOOD)],'ok',[],orphan_files=0)
case('D23-optimize-not-fresh','newest commit is OPTIMIZE dataChange=false: data freshness stays at commit 1',dtab([0,1],PR)+[(V(2)+'.json',3000,nd({"commitInfo":{"timestamp":(T0+3000)*1000,"operation":"OPTIMIZE","operationParameters":{}}},{"remove":{"path":"part-00000.parquet","deletionTimestamp":(T0+3000)*1000,"dataChange":False}},{"remove":{"path":"part-00001.parquet","deletionTimestamp":(T0+3000)*1000,"dataChange":False}},{"add":{"path":"part-00002.parquet","partitionValues":{},"size":len(GOOD),"modificationTime":(T0+3000)*1000,"dataChange":False}})),dfile(2)],'ok',[],version=2,files=1,last_data_commit=T0+60)
case('D24-crc-mismatch','.crc disagrees with replay',dtab(range(3),PR)+[(V(2)+'.crc',125,J({"tableSizeBytes":1,"numFiles":9,"numMetadata":1,"numProtocol":1,"metadata":MD()["metaData"],"protocol":PR["protocol"]}))],'warning',['crc_mismatch'])
# ---------- iceberg ----------
def ice(v,snaps,lu,cur=None,**kw):
    m={"format-version":2,"table-uuid":"5f8b14a8-0a14-4e6a-8b04-000000000001","location":"file:///t","last-sequence-number":kw.get('lsn',max([s["sequence-number"] for s in snaps] or [0])),"last-updated-ms":(T0+lu)*1000,"last-column-id":2,"current-schema-id":0,
     "schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"user_id","required":True,"type":"long"},{"id":2,"name":"event_type","required":False,"type":"string"}]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],
     "properties":{},"current-snapshot-id":cur if cur is not None else (snaps[-1]["snapshot-id"] if snaps else -1),"snapshots":snaps,"snapshot-log":[{"snapshot-id":s["snapshot-id"],"timestamp-ms":s["timestamp-ms"]} for s in snaps],"metadata-log":[],"refs":{}}
    return ('metadata/v%d.metadata.json'%v,lu,J(m))
def snap(i,t,op='append',parent=None,**sm):
    s={"snapshot-id":1000+i,"sequence-number":sm.pop('seq',i),"timestamp-ms":(T0+t)*1000,"summary":dict({"operation":op},**sm),"manifest-list":"file:///t/metadata/snap-%d.avro"%(1000+i),"schema-id":0}
    if parent:s["parent-snapshot-id"]=parent
    return s
tot=lambda n:{"total-data-files":str(n),"total-files-size":str(n*100),"total-records":str(n*2),"total-delete-files":"0"}
hint=lambda v,t=0:('metadata/version-hint.text',t,v)
# manifest lists are absent on purpose in I01.. unless stated: run with check_manifests=false
case('I01-hint-ok','control (metadata only)',[hint('2'),ice(1,[snap(1,60,**tot(1))],60),ice(2,[snap(1,60,**tot(1)),snap(2,120,parent=1001,**tot(2))],120)],'ok',[],version=2,files=2,latest_transaction='1002',check_manifests=False)
case('I03-hint-empty','0-byte hint (PR#1465, iceberg-go PR#964)',[hint(''),ice(1,[snap(1,60,**tot(1))],60),ice(2,[snap(2,120,**tot(2))],120)],'ok',['pointer_hint_bad:info'],version=2,check_manifests=False)
case('I04-hint-missing','delete+rename window',[ice(1,[snap(1,60,**tot(1))],60),ice(2,[snap(2,120,**tot(2))],120)],'ok',['pointer_hint_bad:info'],version=2,check_manifests=False)
case('I06-hole-above-hint','hint 1; v2 missing, v3 present: readers stay at 1 (ClickHouse#114194)',[hint('1'),ice(1,[snap(1,60,**tot(1))],60),ice(3,[snap(3,180,**tot(3))],180)],'warning',['metadata_version_gap'],version=1,check_manifests=False)
case('I08-seq-hole','sequence 1,2,7: expiry/branches -> not a gap',[hint('3'),ice(3,[snap(1,60,**tot(1)),snap(2,120,**tot(2)),snap(7,300,**tot(3))],300)],'ok',[],check_manifests=False)
case('I09-seq-regression','last-sequence-number 1 < snapshot sequence 3',[hint('3'),ice(3,[snap(3,180,**tot(3))],180,lsn=1)],'error',['sequence_number_inconsistent'],check_manifests=False)
case('I11-parent-expired','parent missing after expiry is normal',[hint('3'),ice(3,[snap(3,180,parent=1002,**tot(3))],180)],'ok',[],check_manifests=False)
case('I12-compaction-not-fresh','newest snapshot is replace; data freshness = 60',[hint('2'),ice(2,[snap(1,60,**tot(4)),snap(2,3000,op='replace',parent=1001,**tot(1))],3000)],'ok',[],last_data_commit=T0+60,check_manifests=False)
case('I13-props-only','last-updated-ms 3000 but last snapshot 60',[hint('5'),ice(5,[snap(1,60,**tot(1))],3000)],'ok',[],last_data_commit=T0+60,check_manifests=False)
case('I15-skew-30s','snapshot-log disorder of 30 s tolerated (PR#17286)',[hint('2'),ice(2,[snap(1,120,**tot(1)),snap(2,90,parent=1001,**tot(2))],120)],'ok',[],check_manifests=False)
case('I16-flink-dup','iceberg#10765/#16008: two snapshots, same flink.job-id and max-committed-checkpoint-id',[hint('2'),ice(2,[snap(1,60,**dict(tot(1),**{"flink.job-id":"j1","flink.max-committed-checkpoint-id":"7"})),snap(2,120,parent=1001,**dict(tot(2),**{"flink.job-id":"j1","flink.max-committed-checkpoint-id":"7"}))],120)],'warning',['duplicate_batch'],check_manifests=False)
case('I18-missing-manifest-list','xtable#176: snap-1001.avro not there',[hint('1'),ice(1,[snap(1,60,**tot(1))],60)],'error',['missing_metadata_file'],check_manifests=True)
# ---------- hudi ----------
def hp(ver=6,tz='UTC',lay=1):return ('.hoodie/hoodie.properties',0,'#Updated\nhoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=%d\nhoodie.timeline.layout.version=%d\nhoodie.table.timeline.timezone=%s\n'%(ver,lay,tz)+('hoodie.timeline.path=timeline\nhoodie.timeline.history.path=history\n' if lay==2 else 'hoodie.archivelog.folder=archived\n'))
hts=lambda s:__import__('time').strftime('%Y%m%d%H%M%S',__import__('time').gmtime(T0+s))+'000'
hfile=lambda s:('f%d-0_0-1-1_%s.parquet'%(s,hts(s)),s,GOOD)
def hc(s,done=True,d='.hoodie/'):
    c={"partitionToWriteStats":{"":[{"fileId":"f%d-0"%s,"path":"f%d-0_0-1-1_%s.parquet"%(s,hts(s)),"prevCommit":"null","numWrites":2,"totalWriteBytes":len(GOOD),"fileSizeInBytes":len(GOOD),"totalWriteErrors":0}]},"compacted":False,"extraMetadata":{"schema":json.dumps({"type":"record","name":"r","fields":[{"name":"user_id","type":"long"}]})},"operationType":"UPSERT"}
    r=[(d+hts(s)+'.commit.requested',s,''),(d+hts(s)+'.inflight',s+1,'')]
    return r+([(d+hts(s)+'.commit',s+2,J(c)),hfile(s)] if done else [])
case('H01-healthy','control, layout 1',[hp()]+hc(60)+hc(120),'ok',[],files=2,last_commit=T0+120)
case('H02-young-inflight','newest instant in flight 20 s: normal',[hp()]+hc(60)+hc(3580,False),'ok',[],pending_transactions=1)
case('H04-zero-byte-requested','0-byte requested files are normal',[hp()]+hc(60),'ok',[])
case('H05-rolled-back','instant 1200 rolled back: only rollback trio remains',[hp()]+hc(60)+[('.hoodie/%s.rollback.requested'%hts(1300),1300,''),('.hoodie/%s.rollback.inflight'%hts(1300),1301,''),('.hoodie/%s.rollback'%hts(1300),1302,b'Obj\x01')],'ok',['rollback:info'])
case('H07-layout2','v8 names: <req>_<completion>.commit, Avro body',[hp(8,lay=2),('.hoodie/timeline/%s.commit.requested'%hts(60),60,''),('.hoodie/timeline/%s.inflight'%hts(60),61,''),('.hoodie/timeline/%s_%s.commit'%(hts(60),hts(62)),62,b'Obj\x01'),hfile(60)],'ok',[],last_commit=T0+62)
if __name__=='__main__':
    out=sys.argv[1];os.makedirs(out,exist_ok=True)
    for c in CASES:
        d=os.path.join(out,c['id']);shutil.rmtree(d,ignore_errors=True);os.makedirs(d)
        for n,t,b in c['files']:
            p=os.path.join(d,n);os.makedirs(os.path.dirname(p),exist_ok=True)
            b=b.encode() if isinstance(b,str) else b
            open(p,'wb').write(b);os.utime(p,(T0+t,T0+t))
        json.dump({k:c[k] for k in('id','why','now','expected')},open(d+'.expected.json','w'),indent=1)
    print(len(CASES),'cases')
