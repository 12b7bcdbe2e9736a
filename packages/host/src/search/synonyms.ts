import { type SearchIndex, RANKING } from "./search-index.ts";
import { stem } from "./words.ts";

/** A term of the index that stands for a term of the query, with a weight from 0 to 1. */
export interface SimilarTerm {
  readonly term: string;
  readonly weight: number;
}

/** The maximum number of characters by which a word can be longer than the query's word. */
const MAX_SUFFIX = 4;

/** Returns the terms of the index that match a term of a query: the term itself, synonyms, longer words, and words with a typing error. */
export function similarTerms(index: SearchIndex, term: string): SimilarTerm[] {
  const weights = new Map<string, number>();
  const add = (candidate: string, weight: number): void => {
    if (!weights.has(candidate)) weights.set(candidate, weight);
  };
  const isKnown = index.matches(term) !== undefined;
  if (isKnown) add(term, 1);
  for (const synonym of synonymsOf(term)) if (index.matches(synonym) !== undefined) add(synonym, RANKING.synonym);
  if (term.length >= 4) {
    for (const candidate of index.vocabulary) {
      if (candidate.startsWith(term) && candidate.length - term.length <= MAX_SUFFIX) add(candidate, RANKING.prefix);
      else if (!isKnown && isTypo(term, candidate)) add(candidate, RANKING.typo);
    }
  }
  return [...weights].map(([candidate, weight]) => ({ term: candidate, weight }));
}

/** Whether the terms differ by one edit, or by two from 8 characters. The first characters are equal. */
function isTypo(term: string, candidate: string): boolean {
  if (term.length < 5 || term[0] !== candidate[0] || /\d/.test(term)) return false;
  const max = term.length >= 8 ? 2 : 1;
  return Math.abs(term.length - candidate.length) <= max && distance(term, candidate) <= max;
}

/** Returns the number of insertions, deletions, replacements and swaps of neighbours between two terms. */
function distance(first: string, second: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: second.length + 1 }, (_, column) => column);
  for (let row = 1; row <= first.length; row++) {
    const current = [row];
    for (let column = 1; column <= second.length; column++) {
      const isEqual = first[row - 1] === second[column - 1];
      const edits = [
        costAt(previous, column) + 1,
        costAt(current, column - 1) + 1,
        costAt(previous, column - 1) + (isEqual ? 0 : 1),
      ];
      const isSwap =
        row > 1 && column > 1 && first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1];
      if (isSwap) edits.push(costAt(beforePrevious, column - 2) + 1);
      current.push(Math.min(...edits));
    }
    beforePrevious = previous;
    previous = current;
  }
  return costAt(previous, second.length);
}

function costAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/**
 * Words with a similar meaning in the names and descriptions of tools. Each line is one group. A word can be in several groups.
 * The relation is not transitive: a query for "ticket" finds "issue", and does not find the synonyms of "issue" in other groups.
 */
const GROUPS = `
create add new insert make generate provision write compose
delete remove erase drop destroy clear purge discard wipe forget
list get show read view display fetch retrieve see enumerate
search find query lookup look locate discover
update edit change modify set patch alter adjust revise replace
send post publish deliver submit
copy duplicate clone fork
move rename transfer relocate
start run execute launch trigger invoke begin play
stop cancel abort end terminate halt kill
retry rerun restart repeat
upload attach import
download export save
protect lock restrict forbid prevent
allow permit grant authorize permission access
compare diff difference delta
reply answer respond
accept approve confirm agree
decline reject refuse deny
assign delegate owner
resize scale enlarge shrink grow size
check verify validate test lint valid
pause suspend freeze
resume continue restore
watch subscribe follow notify notification monitor
convert transform translate turn
explain describe detail information
statistics stats metric measure
rollback undo revert rollout
share invite
pr mr pullrequest mergerequest
issue ticket bug
comment note remark
mail email
message chat
file document attachment
folder directory
repository repo project
user person people account profile somebody
member participant attendee people attendance
meeting event appointment calendar
image picture photo screenshot
website webpage web internet online site page url
database db
spreadsheet excel sheet worksheet workbook
row record entry item
column field property attribute
cell range
secret password credential
vm machine virtualmachine instance
k8s kubernetes kubectl
pod container
log output trace
error failure exception problem crash
alarm alert
ci pipeline workflow build
schedule cron nightly recurring
version release revision history
label tag category
emoji reaction
cost price pricing bill expensive
role rbac
function lambda serverless
chart graph plot diagram
paper article publication
docs documentation manual guide
library package
customer contact company lead crm
sms text phone
speech audio voice
todo task
manager boss supervisor
presence availability busy status
health outage incident
dropdown select option choose pick
dialog popup modal alert
click press tap
video recording record screencast
memory heap
slow performance speed
security vulnerability
environment env setting config configuration variable
remember memory memorize recall
crm hubspot salesforce
link associate association relation relationship connect connection
http network request
metric cpu utilization load measure
graph chart plot timeseries
watcher watch subscriber
outlook mail calendar
notes note onenote
bot agent assistant
host server machine
ip address cidr firewall
subscription account tenant
template scaffold boilerplate
namespace space
team group organization
draft pending unsent
bulk batch multiple several many
local disk filesystem
markdown text content
export convert
approval approve
hash checksum digest
zip archive compress
backup snapshot
scroll wheel
emulate simulate fake mock stub intercept
offline disconnect
viewport window screen
tab page
profile bio
blame annotate author
epic story subtask
assignee assign assigned
due deadline
urgent priority
translate language locale
weather forecast
payment invoice billing charge
refund reimburse
inbox mailbox mail
child children subpage nested descendant
schema structure type column field
forward relay
crash fail failed
whoami current authenticated login identity
subordinate report
visit navigate browse goto
store save keep persist state
usage consumption utilization metric
previous back earlier older
append extend
complete completed done finish finished
snooze postpone later
tree hierarchy structure
unusual anomaly abnormal
put place
vm vmss
merge combine join
deployment deploy release rollout
rule filter condition
mouse cursor pointer
commit changeset revision
thread discussion conversation
format style layout
room venue building
block paragraph section
form survey questionnaire
insight recommendation advice
param parameter setting option
fill enter type input
wait until sleep
certificate cert tls ssl
extension plugin addon
console terminal
feedback rating
crawl spider scrape extract
inspect examine detail
board kanban
desk helpdesk support
metadata info detail property
policy compliance
guidance guide advice practice
diagnose diagnostic troubleshoot debug investigate
quota limit
close shut quit exit
evaluate execute run
resolve settle close
toggle switch
map sitemap
artifact output
port forward tunnel expose
entity object fact
observation fact note
aggregate group sum
call phone
transcript transcription minutes
highlight emphasize mark
sprint iteration
changelog history
component module
dependency blocker
manifest yaml
design architecture
sku tier
admin administrator
checkout switch
conflict clash
description body
summary overview
stale unused inactive old
ownership owner
exec shell command
count number total
thumbnail preview
sort order
dismiss ignore close
worklog time hour effort
override exception
trending popular
timezone zone
activity event
script javascript js code
css style
cluster k8s
region location datacenter
default main
protected protect
review reviewer
variable parameter
title name
onedrive drive
reschedule postpone move
blob file object
appointment event
install installation
bold font
assign hand delegate
parse convert extract ocr
forward pass
transition status state
user member people person
performance recommendation suggestion advice advisor
picture avatar photo
`;

/** Returns the stems of the words that have a similar meaning, without the stem itself. */
function synonymsOf(term: string): ReadonlySet<string> {
  return synonyms.get(term) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();
const synonyms = readGroups();

function readGroups(): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const line of GROUPS.trim().split("\n")) {
    const group = line.split(" ").map(stem);
    for (const term of group) {
      const relatedTerms = groups.get(term) ?? new Set();
      for (const member of group) if (member !== term) relatedTerms.add(member);
      groups.set(term, relatedTerms);
    }
  }
  return groups;
}
