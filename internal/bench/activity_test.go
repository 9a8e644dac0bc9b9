package bench_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/triage"
)

// BenchmarkIssueActivity requests the first page of 50 entries from a feed of 10,000, over HTTP on loopback. For each request the server
// checks the API key, reads an SQLite database in a file, and writes a log line. p50-ms and p95-ms are the clients' waits for complete
// answers. The clients use the same cores as the server.
func BenchmarkIssueActivity(b *testing.B) {
	url, key := servedFeed(b)
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("clients-%d", clients), func(b *testing.B) {
			b.ReportAllocs()
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
			defer client.CloseIdleConnections()
			for range 100 { // warms up the server
				ask(b, client, url, key)
			}
			waits := make([][]time.Duration, clients)
			b.ResetTimer()
			var wait sync.WaitGroup
			for n := range clients {
				wait.Go(func() {
					for i := n; i < b.N; i += clients {
						begin := time.Now()
						ask(b, client, url, key)
						waits[n] = append(waits[n], time.Since(begin))
					}
				})
			}
			wait.Wait()
			all := slices.Sorted(slices.Values(slices.Concat(waits...)))
			b.ReportMetric(all[len(all)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(all[len(all)*95/100].Seconds()*1000, "p95-ms")
		})
	}
}

// ask sends a request and reads the whole answer.
func ask(b *testing.B, client *http.Client, url, key string) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		b.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return
	}
	size, err := io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK || size < 25_000 {
		b.Errorf("%s with %d bytes, %v", answer.Status, size, err)
	}
}

// servedFeed starts a server with the feeds of 100 issues, until the benchmark ends. It returns the URL of the long feed's first page, and
// an API key.
func servedFeed(b *testing.B) (url, key string) {
	b.Helper()
	ring := must(callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)}))
	address := "sqlite:" + filepath.Join(b.TempDir(), "callwright.db")
	db := must(bunstore.Open(b.Context(), address, bunstore.Config{Keyring: ring}))
	keys := must(access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: callwright.Secret(strings.Repeat("s", 32))}))
	org := must(keys.CreateOrganization(b.Context(), "o", "o")).ID
	key = must(keys.CreateKey(b.Context(), org, "bench", 0)).Key.Reveal()
	issues := must(triage.New(triage.Config{
		Store: triagestore.Store{DB: db}, Atomic: db, Work: memstore.NewWork(memstore.New(), nil),
	}))
	for n := range 100 {
		i := must(issues.Create(b.Context(), org, triage.System(), triage.Draft{Title: fmt.Sprint("Agent books a closed day ", n)}))
		count := 100
		if n == 50 {
			count, url = 10_000, "/v1/triage/issues/"+i.ID+"/activity"
		}
		if err := (triagestore.Store{DB: db}).AppendEntries(b.Context(), org, i.ID, realistic(i, count)); err != nil {
			b.Fatal(err)
		}
	}
	server := httptest.NewServer(must(httpapi.New(httpapi.Config{
		Access: keys, Atomic: db, Idempotency: orgstore.IdempotencyStore{DB: db}, Areas: []httpapi.Area{triageapi.New(triageapi.Config{Issues: issues})},
		Runtime: callwright.Runtime{Logger: slog.New(slog.NewJSONHandler(io.Discard, nil))}, //nolint:sloglint // its lines are part of what is measured
	})))
	b.Cleanup(func() {
		issues.Close()
		server.Close()
		_ = db.Close()
	})
	return server.URL + url, key
}

// realistic returns count entries of an issue, with texts of 200 bytes. Most entries are comments. Every third entry is a step of an agent,
// and every fifteenth contains an artifact.
func realistic(i triage.Issue, count int) []triage.Entry {
	ids, entries := new(callwright.UUIDs), make([]triage.Entry, count)
	session := &triage.SessionRef{ID: ids.New(), AgentName: "Analyst", Status: triage.SessionActive}
	for n := range entries {
		e := triage.Entry{
			ID: ids.New(), Kind: triage.KindIssue, Type: triage.TypeComment, CreatedAt: i.CreatedAt.Add(time.Duration(n+1) * time.Second),
			Actor:  triage.Actor{Kind: triage.ActorUser, ID: session.ID, Label: "Ann Example"},
			Detail: strings.Repeat("The agent offers a day on which nobody is there.  ", 4),
		}
		if n%3 == 0 {
			e.Kind, e.Type, e.Session = triage.KindAgent, triage.TypeAction, session
			e.Actor = triage.Actor{Kind: triage.ActorAgent, ID: session.ID, Label: session.AgentName}
			e.Metadata = map[string]any{"tool": "transcript", "lines": 42, "call_id": session.ID}
		}
		if n%15 == 0 {
			e.Type, e.Artifact = triage.TypeArtifact, &triage.Artifact{
				ID: e.ID, Type: "root_cause", Title: "Root cause", Renderer: "markdown", Status: triage.ArtifactReady,
				Payload: json.RawMessage(`{"root_cause":"The opening hours of Sundays are missing.","confidence":"high","evidence":[]}`),
			}
		}
		entries[n] = e
	}
	return entries
}
