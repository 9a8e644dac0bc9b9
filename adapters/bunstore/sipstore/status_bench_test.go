package sipstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// watched returns the status of a trunk with two servers and a full history of a month.
func watched(i int, at time.Time) sip.Status {
	s := sip.Status{
		TrunkID: fmt.Sprintf("018f3a5c-7c2d-7c3b-9d5a-%012d", i), Org: "o",
		Number: callwright.PhoneNumber(fmt.Sprintf("+1555%07d", i)), Verify: sip.VerifyFull, Alerting: true, ProbeAt: at,
		History: health.History{Until: at}, Alerts: alert.States{alert.Unreachable: {TriggeredAt: at, ResolvedAt: at, Edges: 1}},
	}
	for n := range 2 {
		s.Servers = append(s.Servers, sip.ServerStatus{
			Server:  failover.Server{Host: fmt.Sprintf("sip%d.example.com", n), Port: 5061},
			Health:  health.Server{State: health.Healthy, Since: at, Streak: n, CheckedAt: at, ResponseTime: 23456789, Reason: "200 OK"},
			ProbeAt: at,
		})
	}
	for day := range health.MaxDays {
		up := 24*time.Hour - time.Duration(day)*time.Second
		s.History.Days = append(s.History.Days, health.Day{Date: at.AddDate(0, 0, -day), Up: up, Down: 24*time.Hour - up})
	}
	for hour := range health.MaxHours {
		start := at.Truncate(time.Hour).Add(-time.Duration(hour) * time.Hour)
		s.History.Hours = append(s.History.Hours, health.Hour{Start: start, Up: time.Hour - time.Second, Down: time.Second})
	}
	return s
}

// fillStatuses stores count statuses, in transactions of 500. count must be a multiple of 500.
func fillStatuses(t testing.TB, db *bunstore.DB, count int, probeAt func(i int) time.Time) {
	t.Helper()
	const batch = 500
	for from := 0; from < count; from += batch {
		err := db.Do(t.Context(), func(ctx context.Context) error {
			for i := from; i < from+batch; i++ {
				if err := (sipstore.Statuses{DB: db}).StoreStatus(ctx, watched(i, probeAt(i))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkStatuses claims 200 of 10,000 statuses and records them in one transaction, which is the work of about a second.
func BenchmarkStatuses(b *testing.B) {
	const count, batch = 10000, 200
	for name, address := range storetest.Databases {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, address(b))
			statuses, now := sipstore.Statuses{DB: db}, time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
			fillStatuses(b, db, count, func(int) time.Time { return now })
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Second)
				due, err := statuses.ClaimStatuses(b.Context(), now, now.Add(time.Minute), batch)
				if err != nil || len(due) != batch {
					b.Fatal(len(due), err)
				}
				err = db.Do(b.Context(), func(ctx context.Context) error {
					for _, s := range due {
						s.ProbeAt = now.Add(time.Second)
						if err := statuses.RecordStatus(ctx, s); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
