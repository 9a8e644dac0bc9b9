package agentstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents/call"
)

// callsStart is the creation time of the first call that fillCalls stores.
var callsStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fillCalls stores count ended calls of one organization in one statement, created one second apart, and then collects statistics. Half of
// the calls were answered by people, a quarter by machines, and the rest were not answered. One in a hundred failed. They belong to 50
// pathways. Most last up to five minutes; one in a thousand lasts an hour.
func fillCalls(t testing.TB, db *bunstore.DB, count int) {
	t.Helper()
	created := storetest.Second(db, callsStart, "i")
	fill := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO calls (id, org, inbound, from_number, to_number, agent, pathway_id, queue, ended, status, created_at,
			started_at, ended_at, length_ns, error_message, answered_by, transferred_to, model_used, carriage, stats, recorded,
			node, heartbeat, stop_requested, version)
		SELECT 'c' || CAST(10000000 + i AS TEXT), 'o', FALSE, '+15550001000', '+1555' || CAST(1000000 + i %% 5000 AS TEXT),
			'{"task":"Ask whether the parcel has arrived, and when somebody is at home to take it.","voice":"slt"}',
			'p' || CAST(i %% 50 AS TEXT), 'complete', TRUE, CASE WHEN i %% 100 = 0 THEN 'failed' ELSE 'completed' END, %s,
			%s, %s, CAST(CASE WHEN i %% 1000 = 7 THEN 3600 ELSE i %% 300 END AS BIGINT) * 1000000000, '',
			CASE i %% 4 WHEN 0 THEN 'human' WHEN 1 THEN 'voicemail' WHEN 2 THEN 'human' ELSE 'no-answer' END, '', 'scripted',
			'{"sip_call_id":"0123456789abcdef@192.0.2.1","peer":"192.0.2.1:5061","codec":"PCMU"}', '{"sent":5000}', TRUE,
			'n1', %s, FALSE, 4
		FROM n`, count-1, created, created, created, created)
	for _, statement := range []string{fill, "ANALYZE"} {
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkCallsPage reads pages of 100 from an organization's million calls, including the total number of matches.
func BenchmarkCallsPage(b *testing.B) {
	const count = 1_000_000
	for _, name := range []string{"sqlite", "postgres"} {
		db := storetest.Open(b, storetest.Databases[name](b))
		fillCalls(b, db, count)
		for what, f := range map[string]call.Filter{
			"all": {}, "human": {AnsweredBy: call.AnsweredByHuman}, "failed": {Status: call.StatusFailed},
			"pathway": {Pathway: "p7"}, "pathway, failed": {Pathway: "p0", Status: call.StatusFailed},
			"number": {To: "+15551000042"}, "number, human": {To: "+15551000042", AnsweredBy: call.AnsweredByHuman},
			"hour": {LongerThan: 10 * time.Minute}, "none": {LongerThan: 2 * time.Hour},
		} {
			f.Limit, f.After = 100, callwright.Keyset{At: callsStart.Add(count / 2 * time.Second), ID: "c"}
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					page, total, err := agentstore.Calls{DB: db}.List(b.Context(), "o", f)
					if err != nil || len(page.Items) == 0 != (what == "none") {
						b.Fatal(len(page.Items), total, err)
					}
				}
			})
		}
	}
}
