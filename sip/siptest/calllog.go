package siptest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/monitor"
)

// CallLog is the storage of a call log, together with the failure count that the monitor needs.
type CallLog interface {
	calllog.Store
	monitor.Attempts
}

// RunCallLog tests a CallLog. newLog returns an empty CallLog.
func RunCallLog(t *testing.T, newLog func(t *testing.T) CallLog) {
	t.Helper()
	tests := map[string]func(*testing.T, CallLog){
		"keeps every field":                  keepsRecord,
		"begins a record once":               beginsOnce,
		"keeps the answer of a record":       keepsAnswer,
		"ends a record once":                 endsOnce,
		"ends a record once in a race":       endsOnceInRace,
		"hides other organizations' records": hidesRecords,
		"finds the attempts at a call":       findsAttempts,
		"pages without gaps":                 pagesRecords,
		"pages from a time":                  pagesFromTime,
		"counts failures":                    countsFailures,
		"finds the records of silent nodes":  findsLost,
		"forgets the oldest records":         forgetsRecords,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newLog(t))
		})
	}
}

const listed = callwright.PhoneNumber("+15550000001")

func record(id string, org callwright.OrgID, started time.Time) calllog.Record {
	return calllog.Record{
		ID: id, Org: org, TrunkID: "t1", Number: listed, Direction: sip.Outbound, Attempt: 1, Node: "n1", StartedAt: started,
	}
}

func begin(t *testing.T, log CallLog, records ...calllog.Record) {
	t.Helper()
	for _, r := range records {
		if err := log.Begin(t.Context(), r); err != nil {
			t.Fatalf("begin %s: %v", r.ID, err)
		}
	}
}

func finish(t *testing.T, log CallLog, r calllog.Record, at time.Time, technical bool) {
	t.Helper()
	if err := log.Finish(t.Context(), r.Org, r.ID, calllog.End{EndedAt: &at, Technical: technical}, nil); err != nil {
		t.Fatalf("end %s: %v", r.ID, err)
	}
}

func getRecord(t *testing.T, log CallLog, org callwright.OrgID, id string) (calllog.Record, []ladder.Event) {
	t.Helper()
	r, steps, err := log.Get(t.Context(), org, id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return r, steps
}

// ids formats the ids of records in the order of the records.
func ids(records []calllog.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.ID)
	}
	return fmt.Sprint(all)
}

func keepsRecord(t *testing.T, log CallLog) {
	want := callwrighttest.Filled[calllog.Record](t, 0)
	begin(t, log, want)
	over := want.End
	want.End = calllog.End{}
	if got, steps := getRecord(t, log, want.Org, want.ID); !reflect.DeepEqual(got, want) || len(steps) != 0 {
		t.Fatalf("begun:\ngot  %+v, %v\nwant %+v", got, steps, want)
	}
	want.End = over
	steps := callwrighttest.Filled[[]ladder.Event](t, 0)
	if err := log.Finish(t.Context(), want.Org, want.ID, over, steps); err != nil {
		t.Fatal(err)
	}
	got, kept := getRecord(t, log, want.Org, want.ID)
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(kept, steps) {
		t.Errorf("ended:\ngot  %+v, %+v\nwant %+v, %+v", got, kept, want, steps)
	}
	page, err := log.List(t.Context(), want.Org, want.Number, callwright.Keyset{}, 10)
	if err != nil || !reflect.DeepEqual(page, []calllog.Record{want}) {
		t.Errorf("listed:\ngot  %+v, %v\nwant %+v", page, err, want)
	}
}

func beginsOnce(t *testing.T, log CallLog) {
	first := record("c1", "a", at)
	second := record("c1", "a", at.Add(time.Hour))
	second.Server = "other"
	begin(t, log, first, second)
	if got, _ := getRecord(t, log, "a", "c1"); !reflect.DeepEqual(got, first) {
		t.Errorf("begun again: %+v", got)
	}
	finish(t, log, first, at.Add(time.Minute), false)
	begin(t, log, first)
	if got, _ := getRecord(t, log, "a", "c1"); got.EndedAt == nil {
		t.Error("a record that has ended runs again")
	}
}

func keepsAnswer(t *testing.T, log CallLog) {
	r := record("c1", "a", at)
	begin(t, log, r)
	answered := at.Add(time.Second)
	if err := log.Answer(t.Context(), "a", "c1", answered); err != nil {
		t.Fatal(err)
	}
	got, _ := getRecord(t, log, "a", "c1")
	if got.AnsweredAt == nil || !got.AnsweredAt.Equal(answered) || got.EndedAt != nil {
		t.Fatalf("answered: %+v", got)
	}
	finish(t, log, r, at.Add(time.Minute), false) // without the answer
	if err := log.Answer(t.Context(), "a", "c1", at.Add(time.Hour)); err != nil {
		t.Errorf("answering a record that has ended: %v", err)
	}
	if got, _ := getRecord(t, log, "a", "c1"); got.AnsweredAt == nil || !got.AnsweredAt.Equal(answered) {
		t.Errorf("ended: answered at %v, want %v", got.AnsweredAt, answered)
	}
}

func endsOnce(t *testing.T, log CallLog) {
	r := record("c1", "a", at)
	begin(t, log, r)
	if err := log.Finish(t.Context(), "a", "c1", calllog.End{Cause: "busy"}, nil); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("an end without a time gave %v, want a bad request", err)
	}
	ended, later := at.Add(time.Minute), at.Add(time.Hour)
	for i, e := range []calllog.End{{EndedAt: &ended, Cause: "busy"}, {EndedAt: &later, Cause: "lost", Technical: true}} {
		steps := []ladder.Event{{At: at, Note: fmt.Sprint("end ", i)}}
		if err := log.Finish(t.Context(), "a", "c1", e, steps); err != nil {
			t.Fatal(err)
		}
	}
	got, steps := getRecord(t, log, "a", "c1")
	if got.EndedAt == nil || !got.EndedAt.Equal(ended) || got.Cause != "busy" || got.Technical ||
		len(steps) != 1 || steps[0].Note != "end 0" {
		t.Errorf("after the second end: %+v, %+v", got, steps)
	}
}

func endsOnceInRace(t *testing.T, log CallLog) {
	begin(t, log, record("c1", "a", at))
	const writers = 8
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			ended, name := at.Add(time.Duration(i)*time.Second), fmt.Sprint(i)
			steps := []ladder.Event{{At: at, Note: name}}
			if err := log.Finish(t.Context(), "a", "c1", calllog.End{EndedAt: &ended, Reason: name}, steps); err != nil {
				t.Errorf("end: %v", err)
			}
		})
	}
	wait.Wait()
	if got, steps := getRecord(t, log, "a", "c1"); len(steps) != 1 || steps[0].Note != got.Reason {
		t.Errorf("the end is that of writer %q, the ladder %+v", got.Reason, steps)
	}
}

func hidesRecords(t *testing.T, log CallLog) {
	r := record("c1", "a", at)
	begin(t, log, r)
	ended := at.Add(time.Minute)
	_, _, getErr := log.Get(t.Context(), "b", "c1")
	for name, err := range map[string]error{
		"get": getErr, "answer": log.Answer(t.Context(), "b", "c1", at),
		"end":         log.Finish(t.Context(), "b", "c1", calllog.End{EndedAt: &ended}, []ladder.Event{{At: at}}),
		"end of none": log.Finish(t.Context(), "a", "c2", calllog.End{EndedAt: &ended}, []ladder.Event{{At: at}}),
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	if got, steps := getRecord(t, log, "a", "c1"); got.AnsweredAt != nil || got.EndedAt != nil || len(steps) != 0 {
		t.Errorf("another organization changed it to %+v, %+v", got, steps)
	}
	if page, err := log.List(t.Context(), "b", listed, callwright.Keyset{}, 10); err != nil || len(page) != 0 {
		t.Errorf("another organization lists %s, %v", ids(page), err)
	}
	finish(t, log, r, ended, true)
	if n, failed, err := log.Failures(t.Context(), "b", "t1", at); err != nil || n != 0 || failed != 0 {
		t.Errorf("another organization counts %d of %d, %v", failed, n, err)
	}
}

// findsAttempts checks that Attempts returns the records of one call with their ladders, and no record of another call or organization.
func findsAttempts(t *testing.T, log CallLog) {
	steps := []ladder.Event{{At: at, Attempt: 1, Sent: true, Method: "INVITE", CSeq: 1, Peer: "192.0.2.1:5061"}}
	for i, parent := range []string{"p", "p", "q", "", "p"} {
		r := record(fmt.Sprint("c", i), "a", at.Add(-time.Duration(i)*time.Second))
		r.ParentID = parent
		begin(t, log, r)
	}
	foreign := record("foreign", "b", at)
	foreign.ParentID = "p"
	begin(t, log, foreign)
	ended := at.Add(time.Second)
	if err := log.Finish(t.Context(), "a", "c1", calllog.End{EndedAt: &ended, SIPCode: 503}, steps); err != nil {
		t.Fatal(err)
	}
	attempts, err := log.Attempts(t.Context(), "a", "p", 10)
	if err != nil || len(attempts) != 3 || attempts[0].ID != "c4" || attempts[1].ID != "c1" || attempts[2].ID != "c0" {
		t.Fatalf("got %+v, %v", attempts, err)
	}
	if a := attempts[1]; a.SIPCode != 503 || !reflect.DeepEqual(a.Ladder, steps) || len(attempts[0].Ladder) != 0 {
		t.Errorf("got %+v", attempts)
	}
	if attempts, err := log.Attempts(t.Context(), "a", "p", 2); err != nil || len(attempts) != 2 {
		t.Errorf("the first two are %d, %v", len(attempts), err)
	}
	if attempts, err := log.Attempts(t.Context(), "a", "r", 2); err != nil || len(attempts) != 0 {
		t.Errorf("a call without attempts has %d, %v", len(attempts), err)
	}
}

// pagesRecords checks that pages contain each record once when records start at the same time and newer records are added between the
// pages.
func pagesRecords(t *testing.T, log CallLog) {
	for i := range 10 {
		begin(t, log, record(fmt.Sprint("c", i), "a", at.Add(time.Duration(i/4)*time.Second)))
	}
	other := record("other", "a", at)
	other.Number = "+15550000009"
	begin(t, log, other)
	var all []calllog.Record
	var place callwright.Keyset
	for range 4 {
		page, err := log.List(t.Context(), "a", listed, place, 3)
		if err != nil || len(page) == 0 {
			t.Fatalf("a page after %+v holds %s, %v", place, ids(page), err)
		}
		all = append(all, page...)
		last := page[len(page)-1]
		place = callwright.Keyset{At: last.StartedAt, ID: last.ID}
		begin(t, log, record("new "+last.ID, "a", at.Add(time.Hour)))
	}
	if got := ids(all); got != "[c9 c8 c7 c6 c5 c4 c3 c2 c1 c0]" {
		t.Errorf("got %s", got)
	}
	if page, err := log.List(t.Context(), "a", listed, place, 3); err != nil || len(page) != 0 {
		t.Errorf("after the last page: %s, %v", ids(page), err)
	}
}

func pagesFromTime(t *testing.T, log CallLog) {
	for i, started := range []time.Duration{0, 0, time.Microsecond, 100 * time.Millisecond, time.Second, time.Second} {
		begin(t, log, record(fmt.Sprint("c", i), "a", at.Truncate(time.Second).Add(started)))
	}
	base := at.Truncate(time.Second)
	for before, want := range map[callwright.Keyset]string{
		{At: base.Add(time.Hour)}:                       "[c5 c4 c3 c2 c1 c0]",
		{At: base.Add(time.Second)}:                     "[c3 c2 c1 c0]",
		{At: base.Add(time.Second), ID: "c4"}:           "[c3 c2 c1 c0]",
		{At: base.Add(time.Second), ID: "c5"}:           "[c4 c3 c2 c1 c0]",
		{At: base.Add(100 * time.Millisecond)}:          "[c2 c1 c0]",
		{At: base.Add(time.Millisecond)}:                "[c2 c1 c0]",
		{At: base.Add(time.Microsecond)}:                "[c1 c0]",
		{At: base}:                                      "[]",
		{At: base, ID: "c1"}:                            "[c0]",
		{At: base.In(time.FixedZone("", 3600))}:         "[]",
		{At: base.Add(-time.Hour), ID: "c9"}:            "[]",
		{At: base.Add(time.Second), ID: "none of them"}: "[c5 c4 c3 c2 c1 c0]",
	} {
		page, err := log.List(t.Context(), "a", listed, before, 10)
		if got := ids(page); err != nil || got != want {
			t.Errorf("before %+v: %s, %v; want %s", before, got, err, want)
		}
	}
}

func countsFailures(t *testing.T, log CallLog) {
	for i, technical := range []bool{true, false, true, false, true} {
		r := record(fmt.Sprint("c", i), "a", at)
		begin(t, log, r)
		finish(t, log, r, at.Add(time.Duration(i)*time.Second), technical)
	}
	foreign := record("foreign", "a", at)
	foreign.TrunkID = "t2"
	begin(t, log, foreign, record("running", "a", at.Add(time.Minute)))
	finish(t, log, foreign, at.Add(time.Minute), true)
	for since, want := range map[time.Duration][2]int{
		-time.Hour: {5, 3}, 0: {5, 3}, time.Second: {4, 2}, 1500 * time.Millisecond: {3, 2}, 4 * time.Second: {1, 1},
		5 * time.Second: {0, 0},
	} {
		ended, failed, err := log.Failures(t.Context(), "a", "t1", at.Add(since))
		if err != nil || ended != want[0] || failed != want[1] {
			t.Errorf("since %v: %d of %d, %v; want %d of %d", since, failed, ended, err, want[1], want[0])
		}
	}
}

func findsLost(t *testing.T, log CallLog) {
	add := func(id, node string, started time.Duration) calllog.Record {
		r := record(id, "a", at.Add(started))
		r.Node = node
		begin(t, log, r)
		return r
	}
	before, alive := at.Add(time.Minute), []string{"living", "again"}
	add("c2", "silent", time.Second)
	add("c1", "never beat", 0)
	add("c3", "living", 0)
	add("c4", "again", 0)
	add("c5", "never beat", time.Minute+time.Microsecond)
	finish(t, log, add("c6", "silent", 0), at.Add(time.Minute), false)
	foreign := record("c7", "b", at.Add(2*time.Second))
	foreign.Node = "silent"
	begin(t, log, foreign)
	answered := at.Add(time.Second)
	if err := log.Answer(t.Context(), "b", "c7", answered); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{10: "[c1 c2 c7]", 2: "[c1 c2]"} {
		lost, err := log.Lost(t.Context(), alive, before, limit)
		if got := ids(lost); err != nil || got != want {
			t.Errorf("limit %d: %s, %v; want %s", limit, got, err, want)
		}
		if limit < 10 {
			continue
		}
		if all, err := log.Lost(t.Context(), nil, before, limit); err != nil || len(all) != 5 {
			t.Errorf("with nobody alive %s, %v", ids(all), err)
		}
		if foreign.AnsweredAt = &answered; len(lost) == 3 && !reflect.DeepEqual(lost[2], foreign) {
			t.Errorf("got  %+v\nwant %+v", lost[2], foreign)
		}
	}
}

func forgetsRecords(t *testing.T, log CallLog) {
	for i, id := range []string{"late", "early", "running", "middle", "kept"} {
		r := record(id, "a", at.Add([]time.Duration{3 * time.Minute, time.Minute, 0, 2 * time.Minute, time.Hour}[i]))
		begin(t, log, r)
		if id == "running" {
			continue
		}
		ended := r.StartedAt.Add(2 * time.Hour)
		step := ladder.Event{At: r.StartedAt, Method: "INVITE"}
		if err := log.Finish(t.Context(), r.Org, r.ID, calllog.End{EndedAt: &ended}, []ladder.Event{step}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		removed int
		left    string
	}{{2, "[kept late running]"}, {1, "[kept running]"}, {0, "[kept running]"}} {
		removed, err := log.DeleteOld(t.Context(), at.Add(time.Hour), 2)
		if err != nil || removed != want.removed {
			t.Errorf("%d removed, %v; want %d", removed, err, want.removed)
		}
		left, err := log.List(t.Context(), "a", listed, callwright.Keyset{}, 10)
		if got := ids(left); err != nil || got != want.left {
			t.Errorf("%s left, %v; want %s", got, err, want.left)
		}
	}
	if _, _, err := log.Get(t.Context(), "a", "early"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a record that is forgotten gives %v", err)
	}
	if _, steps := getRecord(t, log, "a", "kept"); len(steps) != 1 {
		t.Errorf("what is kept has the steps %v", steps)
	}
}
