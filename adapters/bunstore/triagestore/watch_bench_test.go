package triagestore_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/triage"
)

// BenchmarkIdleWatchers measures watchers of idle feeds, ten watchers per feed, for ten seconds per iteration. core-% is the CPU time of
// this process in percent of one core, without the PostgreSQL server. KB/watcher is the memory per watcher, including its goroutine.
func BenchmarkIdleWatchers(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		for _, count := range []int{100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, count), func(b *testing.B) {
				s := triageService(b, storetest.Open(b, storetest.Databases[name](b)))
				before := heap()
				ctx, cancel := context.WithCancel(b.Context())
				var wait sync.WaitGroup
				for _, w := range idle(b, s, count) {
					wait.Go(func() {
						defer w.Close()
						if entries, err := w.Next(ctx); ctx.Err() == nil {
							b.Error(entries, err)
						}
					})
				}
				<-time.After(2 * time.Second) // until each watcher has read its feed once
				each := float64(heap()-before) / float64(count) / 1024
				b.ResetTimer()
				used := processorTime()
				for range b.N {
					<-time.After(10 * time.Second)
				}
				b.ReportMetric((processorTime()-used).Seconds()/b.Elapsed().Seconds()*100, "core-%")
				b.ReportMetric(each, "KB/watcher")
				cancel()
				wait.Wait()
			})
		}
	}
}

// idle returns count watchers of new issues, ten per issue and up to triage.MaxWatchers per organization.
func idle(b *testing.B, s *triage.Service, count int) []*triage.Watcher {
	b.Helper()
	var watchers []*triage.Watcher
	for len(watchers) < count {
		org := callwright.OrgID(fmt.Sprint("o", len(watchers)/triage.MaxWatchers))
		i, err := s.Create(b.Context(), org, triage.System(), triage.Draft{Title: "a"})
		if err != nil {
			b.Fatal(err)
		}
		for range 10 {
			w, err := s.Watch(b.Context(), org, i.ID, "")
			if err != nil {
				b.Fatal(err)
			}
			watchers = append(watchers, w)
		}
	}
	return watchers
}

// heap collects garbage and returns the size of the heap and the stacks in use, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// processorTime returns the CPU time of this process on all cores, or 0 if the system does not report it.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
