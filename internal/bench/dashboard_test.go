package bench_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// BenchmarkDashboard requests the pages of an organization with a million calls, over HTTP on loopback, like a browser with a session.
// p50-ms and p95-ms are the times to the first byte, max-ms is the slowest page, and wire-KB is the compressed size. The client uses the
// same cores as the server.
func BenchmarkDashboard(b *testing.B) {
	h := bigHouse(b)
	client := h.signIn(b, bigOrg)
	middle := "/calls?after=" + h.followed(b, client, "/calls?end_date="+minutesAgo(45*24*60).Format(time.DateOnly), `href="\?after=([^&"]+)`)
	issue := h.followed(b, client, "/issues", `href="(/issues/[0-9a-f-]{36})"`)
	graph := h.followed(b, client, "/pathways", `href="(/pathways/[0-9a-f-]{36})"`)
	for _, page := range []struct{ name, path string }{
		{"overview", "/"},
		{"calls", "/calls"},
		{"calls-oldest-first", "/calls?ascending=true"},
		{"calls-from-the-middle", middle},
		{"calls-inbound", "/calls?inbound=true"},
		{"calls-running", "/calls?completed=false"},
		{"calls-failed", "/calls?status=failed"},
		{"calls-busy", "/calls?status=busy"},
		{"calls-canceled", "/calls?status=canceled"},
		{"calls-by-voicemail", "/calls?answered_by=voicemail"},
		{"calls-of-a-caller", "/calls?from_number=%2B14155551003"},
		{"calls-of-a-caller-to-one", "/calls?from_number=%2B14155551003&to_number=%2B15551000042"},
		{"calls-to-a-callee", "/calls?to_number=%2B15551000042"},
		{"calls-of-a-pathway", "/calls?pathway_id=p7"},
		{"calls-longer", "/calls?duration_gt=30"},
		{"calls-longer-than-any", "/calls?duration_gt=90"},
		{"calls-shorter", "/calls?duration_lt=0.1&ascending=true"},
		{"calls-of-days", "/calls?start_date=" + minutesAgo(30*24*60).Format(time.DateOnly) + "&end_date=" + minutesAgo(20*24*60).Format(time.DateOnly)},
		{"call", "/calls/acme-10000042"},
		{"call-with-2000-lines", "/calls/long"},
		{"call-that-runs", "/calls/acme-running-0"},
		{"place-a-call", "/calls/new"},
		{"trunks", "/trunks"},
		{"trunk", "/trunks/+14155550100"},
		{"trunk-set-up", "/trunks/new"},
		{"pathways", "/pathways"},
		{"pathway", graph},
		{"pathway-version", graph + "/versions/1"},
		{"tests", "/tests"},
		{"runs", "/tests/runs"},
		{"runs-failed", "/tests/runs?status=FAILED"},
		{"run", "/tests/runs/r0"},
		{"analytics", "/tests/analytics?pathway_id=" + graph[len("/pathways/"):]},
		{"ports", "/ports"},
		{"ports-open", "/ports?status=waiting_for_signature,submitted,in_progress"},
		{"port", "/ports/port-1"},
		{"issues", "/issues"},
		{"issues-urgent", "/issues?severity=critical,high&sort=severity"},
		{"issues-search", "/issues?search=nowhere"},
		{"issue-with-500-comments", issue},
		{"speech", "/speech"},
		{"samples", "/speech/samples"},
		{"settings", "/settings"},
		{"sessions", "/settings/sessions"},
		{"about", "/settings/about"},
	} {
		b.Run(page.name, func(b *testing.B) {
			b.ReportAllocs()
			var waits []time.Duration
			var size int64
			for range 3 {
				h.firstByte(b, client, page.path)
			}
			for b.Loop() {
				wait, n := h.firstByte(b, client, page.path)
				waits, size = append(waits, wait), n
			}
			slices.Sort(waits)
			b.ReportMetric(waits[len(waits)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(waits[len(waits)*95/100].Seconds()*1000, "p95-ms")
			b.ReportMetric(waits[len(waits)-1].Seconds()*1000, "max-ms")
			b.ReportMetric(float64(size)/1000, "wire-KB")
		})
	}
}

// firstByte requests a page. It returns the time to the first byte, and the compressed size in bytes.
func (h *house) firstByte(b *testing.B, client *http.Client, path string) (wait time.Duration, size int64) {
	b.Helper()
	r := must(http.NewRequestWithContext(b.Context(), http.MethodGet, h.url+path, http.NoBody))
	r.Header.Set("Accept-Encoding", "gzip")
	begin := time.Now()
	answer, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 1)
	if _, err = io.ReadFull(answer.Body, first); err == nil {
		wait = time.Since(begin)
		size, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
	return wait, size + 1
}

// followed returns the last group of a pattern's first match in a page. It fails the benchmark if the pattern does not match.
func (h *house) followed(b *testing.B, client *http.Client, path, pattern string) string {
	b.Helper()
	text := pagetest.Send(b, client, h.url+path, nil).Body
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		b.Fatalf("%s has no %s:\n%s", path, pattern, text)
	}
	return found[len(found)-1]
}
