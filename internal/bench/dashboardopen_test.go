package bench_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// BenchmarkOpenDashboards opens 500 pages for 30 seconds while nothing changes. A quarter each are the overview, the calls, a running call
// and the trunks. The pages belong to one organization or to 50. cores is the share of a core that the process uses. The browsers use none
// of it, because they read nothing. KB-a-stream is the size of the heap and stacks for each page.
func BenchmarkOpenDashboards(b *testing.B) {
	for _, orgs := range []int{1, 50} {
		b.Run(fmt.Sprintf("organizations=%d", orgs), func(b *testing.B) { holdOpen(b, orgs, 500) })
	}
}

func holdOpen(b *testing.B, orgs, pages int) {
	b.Helper()
	const warm, measured = 20 * time.Second, 30 * time.Second
	h := newHouse(b, b.TempDir())
	cookies := make([]string, orgs)
	for i := range orgs {
		org := callwright.OrgID(fmt.Sprint("org", i))
		cookies[i] = h.cookies(h.signIn(b, org))
		numbers := numbers(10*i, 10)
		err := h.fillCalls(b.Context(), org, 1000)
		if err == nil {
			err = h.attach(b.Context(), org, numbers)
		}
		if err == nil {
			err = h.db.Do(b.Context(), func(ctx context.Context) error { return h.watch(ctx, org, numbers) })
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	before := inUse()
	for i := range pages {
		org := i / 4 % orgs
		path := []string{"/", "/calls", fmt.Sprintf("/calls/org%d-running-0", org), "/trunks"}[i%4]
		conn := h.open(b, path, cookies[org])
		b.Cleanup(func() { _ = conn.Close() })
	}
	<-time.After(warm)
	after := inUse()
	var busy time.Duration
	for b.Loop() {
		begin := processorTime()
		<-time.After(measured)
		busy += processorTime() - begin
	}
	b.ReportMetric(busy.Seconds()/float64(b.N)/measured.Seconds(), "cores")
	b.ReportMetric(float64(after-before)/1000/float64(pages), "KB-a-stream")
}

// cookies returns the Cookie header of a client.
func (h *house) cookies(c *http.Client) string {
	var all []string
	for _, cookie := range c.Jar.Cookies(must(url.Parse(h.url))) {
		all = append(all, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(all, "; ")
}

// open opens the event stream of a page, and reads only the header of the answer.
func (h *house) open(b *testing.B, path, cookies string) net.Conn {
	b.Helper()
	host := strings.TrimPrefix(h.url, "http://")
	conn := must(new(net.Dialer).DialContext(b.Context(), "tcp", host))
	must(fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nCookie: %s\r\n\r\n", path, host, cookies))
	answer := must(http.ReadResponse(bufio.NewReader(conn), nil)) //nolint:bodyclose // closing the connection does
	if answer.StatusCode != http.StatusOK {
		b.Fatal(path, answer.Status)
	}
	return conn
}

// inUse returns the size of the heap and the stacks in use, in bytes, after a garbage collection.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
