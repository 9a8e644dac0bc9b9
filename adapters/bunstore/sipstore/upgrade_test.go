package sipstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// TestServersOfAnOlderRelease runs migration 38 on statuses in which each trunk has its own state of a server. The most recently checked
// state of a server is stored for all trunks of the same organization, and every server is due for a probe.
func TestServersOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		statuses, now := sipstore.Statuses{DB: db}, time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		server := func(host string, port int, state health.State, checked time.Time) string {
			return fmt.Sprintf(`{"server": {"host": "%s", "port": %d}, "probe_at": "2026-05-04T03:03:00Z",
				"health": {"state": "%s", "since": "2026-05-01T00:00:00Z", "streak": 2, "checked_at": "%s", "reason": "it's so"}}`,
				host, port, state, checked.Format(time.RFC3339Nano))
		}
		for id, st := range map[string]struct{ org, servers, more string }{
			"t1": {"a", server("pbx.example.com", 5061, health.Healthy, now.Add(-time.Hour)), ""},
			"t2": {"a", server("PBX.example.com", 5061, health.Unreachable, now) + "," + server("2001:db8::1", 5071, health.Recovering, now), `"active": 1,`},
			"t3": {"b", server("pbx.example.com", 5061, health.Suspect, now.Add(time.Minute)), ""},
			"t4": {"a", `{"server": {"host": "new.example.com"}, "health": {"state": "unchecked"}}`, ""},
			"t5": {"a", "null", ""},
		} {
			document := `{"verify": "full", ` + st.more + `"servers": [` + st.servers + `], "history": {"days": null, "samples_ns": [1000000, 2000000]}, "alerts": null}`
			document = strings.ReplaceAll(document, "[null]", "null")
			if err := statuses.StoreStatus(t.Context(), sip.Status{TrunkID: id, Org: "x", ProbeAt: now}); err != nil {
				t.Fatal(err)
			}
			_, err := db.SQL().ExecContext(t.Context(), strings.NewReplacer("$org", st.org, "$id", id, "$document", strings.ReplaceAll(document, "'", "''")).
				Replace("UPDATE trunk_statuses SET org = '$org', document = '$document' WHERE trunk_id = '$id'"))
			if err != nil {
				t.Fatal(err)
			}
		}
		migrateServers(t, db)
		w, err := statuses.Server(t.Context(), "a", "full pbx.example.com:5061")
		want := sip.WatchedServer{Org: "a", Verify: sip.VerifyFull, ServerStatus: sip.ServerStatus{
			Server: failover.Server{Host: "PBX.example.com", Port: 5061}, ProbeAt: now, Samples: []time.Duration{}, Version: 1,
			Health: health.Server{State: health.Unreachable, Since: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Streak: 2, CheckedAt: now, Reason: "it's so"},
		}}
		if err != nil || !reflect.DeepEqual(w, want) {
			t.Errorf("watched is %+v, %v; want %+v", w, err, want)
		}
		for id, want := range map[string]string{
			"t1 a": "[unreachable] []", "t2 a": "[unreachable recovering] [1ms 2ms]", "t3 b": "[suspect] [1ms 2ms]", "t4 a": "[unchecked] [1ms 2ms]", "t5 a": "[] []",
		} {
			id, org, _ := strings.Cut(id, " ")
			listed, err := statuses.StatusesOf(t.Context(), callwright.OrgID(org), []string{id})
			if err != nil || len(listed) != 1 {
				t.Fatalf("%s: %+v, %v", id, listed, err)
			}
			var states []health.State
			var samples []time.Duration
			for _, s := range listed[0].Servers {
				states, samples = append(states, s.Health.State), append(samples, s.Samples...)
			}
			if got := fmt.Sprint(states, " ", samples); got != want {
				t.Errorf("%s has %s, want %s", id, got, want)
			}
		}
		if due, err := statuses.ClaimServers(t.Context(), now, now.Add(time.Minute), 10); err != nil || len(due) != 4 {
			t.Errorf("%d servers are due, %v", len(due), err)
		}
	})
}

// migrateServers executes the part of migration 38 that converts existing rows.
func migrateServers(t *testing.T, db *bunstore.DB) {
	t.Helper()
	folder, begin := "sqlite", "CREATE TABLE former_servers"
	if db.PostgresDSN() != "" {
		folder, begin = "postgres", "CREATE TEMPORARY TABLE former_servers"
	}
	text, err := os.ReadFile(filepath.Join("..", "migrations", folder, "0038_trunk_servers.sql"))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for statement := range strings.SplitSeq(string(text[strings.Index(string(text), begin):]), ";\n") {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}
