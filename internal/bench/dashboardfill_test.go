package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/bunstore/speechstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/triage"
)

// These constants are the organization with the long lists, and the sizes of its lists.
const (
	bigOrg   = callwright.OrgID("acme")
	bigRuns  = 5000
	bigSmall = 300 // size of most other lists; some are ten times as long
)

// bigCalls returns the number of calls to store: CALLWRIGHT_BENCH_CALLS, or a million.
func bigCalls() int {
	if n, err := strconv.Atoi(os.Getenv("CALLWRIGHT_BENCH_CALLS")); err == nil && n > 0 {
		return n
	}
	return 1_000_000
}

// bigHouse returns a dashboard with long lists. If CALLWRIGHT_BENCH_DATA names a folder, the data is stored there and reused by later runs.
func bigHouse(b *testing.B) *house {
	b.Helper()
	folder := os.Getenv("CALLWRIGHT_BENCH_DATA")
	if folder == "" {
		folder = b.TempDir()
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(folder, "callwright.db"))
	h := newHouse(b, folder)
	if err == nil {
		return h
	}
	h.signIn(b, bigOrg)
	numbers := numbers(0, bigSmall)
	fills := []func(context.Context) error{
		func(ctx context.Context) error { return h.fillCalls(ctx, bigOrg, bigCalls()) },
		func(ctx context.Context) error { return h.attach(ctx, bigOrg, numbers) }, h.fillRecording,
	}
	for _, fill := range []func(context.Context) error{
		h.fillCall, h.fillIssues, h.fillTests, h.fillPorts, h.fillSpeech, h.fillPathways, h.fillLog,
		func(ctx context.Context) error { return h.watch(ctx, bigOrg, numbers) },
	} {
		fills = append(fills, func(ctx context.Context) error { return h.db.Do(ctx, fill) })
	}
	for _, fill := range fills {
		if err := fill(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return h
}

// endedCall returns a typical ended call with a recording of three minutes.
func endedCall(org callwright.OrgID, id string, at time.Time) call.Call {
	return call.Call{
		ID: id, Org: org, From: "+14155550100", To: "+14155550123", Queue: call.QueueComplete, Status: call.StatusCompleted,
		CreatedAt: at, StartedAt: new(at.Add(4 * time.Second)), EndedAt: new(at.Add(184 * time.Second)), AnsweredBy: call.AnsweredByHuman,
		Ending: &call.HangupReason{Cause: call.CauseRemoteHangup, SIPCode: 200, ByPeer: true}, ModelUsed: "scripted",
		Agent: agents.Agent{
			Task: "Ask for the day.", MaxDuration: time.Hour, Record: true, Voice: "slt", Language: "en-US", Pathway: agents.PathwayRef{ID: "p0"},
		},
		Carriage: call.LegInfo{SIPCallID: "0123456789abcdef@192.0.2.1", Peer: "192.0.2.1:5061", Codec: "PCMU", SRTPSuite: "AES_CM_128_HMAC_SHA1_80", TLS: "TLS 1.3"},
		Stats:    call.Stats{Sent: 9000, Received: 8990, Lost: 4, Late: 6, Jitter: time.Millisecond, RoundTrip: 40 * time.Millisecond},
		Node:     "n", Version: 1,
	}
}

// fillCalls stores calls that are evenly distributed over the last 90 days, and five running calls. A tenth of the calls is inbound, half
// are answered by people, a hundredth have failed, and one in 100,000 was busy. They use 10 calling numbers, 5,000 called numbers and 50
// pathways.
func (h *house) fillCalls(ctx context.Context, org callwright.OrgID, count int) error {
	store, template := agentstore.Calls{DB: h.db}, endedCall(org, string(org)+"-template", minutesAgo(0))
	if err := store.Insert(ctx, template); err != nil {
		return err
	}
	rows, err := h.db.SQL().QueryContext(ctx, "SELECT name FROM pragma_table_info('calls')")
	if err != nil {
		return err
	}
	defer rows.Close()
	created := fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%S+00:00', %d - i * %d / %d, 'unixepoch')", minutesAgo(0).Unix(), 90*24*3600, count)
	differ := map[string]string{
		"id": "'" + string(org) + "-' || (10000000 + i)", "inbound": "i % 10 = 0", "from_number": "'+1415555' || (1000 + i % 10)",
		"to_number": "'+1555' || (1000000 + i % 5000)", "pathway_id": "'p' || (i % 50)", "created_at": created,
		"status":      "CASE WHEN i % 100000 = 77777 THEN 'busy' WHEN i % 100 = 0 THEN 'failed' ELSE 'completed' END",
		"answered_by": "CASE i % 4 WHEN 0 THEN 'voicemail' WHEN 1 THEN 'no-answer' ELSE 'human' END",
		"length_ns":   "CAST(CASE WHEN i % 1000 = 7 THEN 3600 ELSE i % 300 END AS BIGINT) * 1000000000",
	}
	var names, values []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		value, ok := differ[name]
		if !ok {
			value = name
		}
		names, values = append(names, name), append(values, value)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = h.db.SQL().ExecContext(ctx, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO calls (%s) SELECT %s FROM calls, n WHERE id = ?`, count-1, strings.Join(names, ", "), strings.Join(values, ", ")), template.ID)
	for i := 0; i < 5 && err == nil; i++ {
		c := endedCall(org, fmt.Sprint(org, "-running-", i), minutesAgo(i))
		c.Queue, c.Status, c.EndedAt, c.Ending = call.QueueStarted, "", nil, nil
		err = store.Insert(ctx, c)
	}
	return err
}

// fillCall stores the call "long" with 2,000 transcript lines, 500 turns, and three attempts with 15 messages each.
func (h *house) fillCall(ctx context.Context) error {
	store, log := agentstore.Calls{DB: h.db}, sipstore.CallLog{DB: h.db}
	c := endedCall(bigOrg, "long", minutesAgo(1))
	c.Recorded, c.EndedAt = true, new(c.CreatedAt.Add(10*time.Minute))
	if err := store.Insert(ctx, c); err != nil {
		return err
	}
	for i := range 2000 {
		e := call.Entry{
			Seq: i + 1, Speaker: call.SpeakerUser, Text: "I think that day " + strconv.Itoa(i) + " of the month would be best for me.",
			Start: time.Duration(i) * 300 * time.Millisecond, CreatedAt: c.CreatedAt,
		}
		if e.End = e.Start + 250*time.Millisecond; i%2 == 1 {
			e.Speaker, e.Text = call.SpeakerAssistant, "Thank you. This is question "+strconv.Itoa(i)+": which day suits you?"
			e.Latency = conversation.Latency{
				EndOfTurn: 500 * time.Millisecond, Recognized: 560 * time.Millisecond, FirstStep: 700 * time.Millisecond,
				FirstAudio: 750 * time.Millisecond, Playing: time.Duration(770+i%100) * time.Millisecond,
			}
		}
		if err := store.Append(ctx, bigOrg, c.ID, e); err != nil {
			return err
		}
	}
	for i := range 500 {
		l := pathway.Log{Turn: i, Heard: "Tuesday, please.", Said: "Thank you. Which day suits you?", Duration: 70 * time.Millisecond, Usage: llm.Usage{Input: 900, Output: 40}}
		l.Entries = []pathway.LogEntry{
			{Kind: pathway.LogVariables, Node: "n1", Name: "Question", Variables: map[string]any{"day": i}, At: c.CreatedAt},
			{Kind: pathway.LogDecision, Node: "n1", Name: "Question", Chosen: "n2", Text: "The caller has named a day.", At: c.CreatedAt},
		}
		if err := store.AppendLog(ctx, bigOrg, c.ID, l); err != nil {
			return err
		}
	}
	for attempt := 1; attempt <= 3; attempt++ {
		r := calllog.Record{
			ID: fmt.Sprint("attempt-", attempt), Org: bigOrg, TrunkID: "t", Number: "+14155550100", ParentID: c.ID, Direction: sip.Outbound, From: c.From,
			To: c.To, SIPCallID: "0123456789abcdef@192.0.2.1", Attempt: attempt, Server: "pbx.example.com:5061", Node: "n", StartedAt: c.CreatedAt,
		}
		var events []ladder.Event
		for i := range 15 {
			events = append(events, ladder.Event{
				At: c.CreatedAt.Add(time.Duration(i) * 50 * time.Millisecond), Attempt: attempt, Sent: i%2 == 0, Method: "INVITE", Status: i % 2 * 180, Reason: "Ringing",
				CSeq: 1, Transport: "TLS 1.3", Peer: "192.0.2.1:5061", Branch: "z9hG4bK0123456789", Body: "audio PCMU, SRTP",
			})
		}
		if err := log.Begin(ctx, r); err != nil {
			return err
		}
		end := calllog.End{AnsweredAt: c.StartedAt, EndedAt: c.EndedAt, SIPCode: 200, Status: "200 OK", Cause: string(call.CauseRemoteHangup)}
		if err := log.Finish(ctx, bigOrg, r.ID, end, events); err != nil {
			return err
		}
	}
	return nil
}

// fillRecording stores the recording of the call "long", which lasts ten minutes.
func (h *house) fillRecording(ctx context.Context) error {
	file, err := h.recordings.Create(ctx, bigOrg, "long")
	if err != nil {
		return err
	}
	audio := pcm.Audio{Rate: 8000, Channels: 2, Samples: make([]int16, 2*8000*600)}
	for i := range audio.Samples {
		audio.Samples[i] = int16(i * 7919 % 20000)
	}
	if err := pcm.WriteWAV(file, audio); err != nil {
		return err
	}
	return file.Close()
}

// fillIssues creates issues, and 500 comments on the last of them.
func (h *house) fillIssues(ctx context.Context) error {
	for n := range 10 * bigSmall {
		i, err := h.issues.Create(ctx, bigOrg, triage.System(), triage.Draft{Title: fmt.Sprint("Agent books a closed day ", n), Category: "booking"})
		if err != nil {
			return err
		}
		for k := 0; n == 10*bigSmall-1 && k < 500; k++ {
			if _, err := h.issues.Comment(ctx, bigOrg, triage.System(), i.ID, triage.CommentDraft{Detail: "It happened **again** at " + strconv.Itoa(k)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillTests stores scenarios and runs. A third of the runs have failed.
func (h *house) fillTests(ctx context.Context) error {
	store := agentteststore.Store{DB: h.db}
	for i := range bigSmall {
		sc := scenario.Scenario{ID: fmt.Sprint("s", i), Org: bigOrg, Pathway: "p0", Name: fmt.Sprint("Books an inspection ", i), Enabled: true, CreatedAt: minutesAgo(i)}
		if err := store.InsertScenario(ctx, sc); err != nil {
			return err
		}
	}
	if err := store.InsertSnapshots(ctx, []run.Snapshot{{ID: "snap", Org: bigOrg, CreatedAt: minutesAgo(0)}}); err != nil {
		return err
	}
	var runs []run.Run
	for i := range bigRuns {
		r := run.Run{
			ID: fmt.Sprint("r", i), Org: bigOrg, Scenario: fmt.Sprint("s", i%bigSmall), Name: "Books an inspection", Pathway: "p0", Version: 1, Snapshot: "snap",
			State: run.Passed, CreatedAt: minutesAgo(i), StartedAt: minutesAgo(i), EndedAt: minutesAgo(i), Revision: 1, Result: run.Result{Score: new(0.75), Turns: 20},
		}
		if i%3 == 0 {
			r.State = run.Failed
		}
		if i == 0 {
			r.Outcome = &engine.Outcome{}
			for k := range 60 {
				r.Outcome.Evidence.Turns = append(r.Outcome.Evidence.Turns, assert.Turn{
					Role: []llm.Role{llm.RoleCaller, llm.RoleAgent}[k%2], Text: "Thank you. Which day of the month suits you best?", Node: "n1",
				})
			}
		}
		runs = append(runs, r)
	}
	return store.InsertRuns(ctx, runs)
}

// fillPorts stores port requests with three numbers each. Half of the requests have ended.
func (h *house) fillPorts(ctx context.Context) error {
	for i := range bigSmall {
		r := porting.Request{
			ID: fmt.Sprint("port-", i), Org: bigOrg, State: porting.Submitted, CreatedAt: minutesAgo(i), UpdatedAt: minutesAgo(i), Gateway: "simulated", Entries: 1, Revision: 1,
			Account: porting.Account{CustomerType: porting.Business, BusinessName: "Acme", FirstName: "Ada", LastName: "Example", Email: "ada@example.com"},
		}
		if i%2 == 0 {
			r.State, r.EndedAt = porting.Completed, minutesAgo(i)
		}
		for k := range 3 {
			r.Numbers = append(r.Numbers, porting.Number{Number: callwright.PhoneNumber(fmt.Sprintf("+1415%07d", 3*i+k)), State: porting.NumberSubmitted})
		}
		if err := (portingstore.Requests{DB: h.db}).InsertRequest(ctx, r, porting.Entry{Number: 1, At: r.CreatedAt, To: r.State}); err != nil {
			return err
		}
	}
	return nil
}

// fillSpeech stores samples of speech.
func (h *house) fillSpeech(ctx context.Context) error {
	for i := range bigSmall {
		s := speech.Sample{ID: fmt.Sprint("sample-", i), Org: bigOrg, Text: "Good morning, and thank you for calling.", Voice: "tone", Key: fmt.Sprint(i), CreatedAt: minutesAgo(i), Duration: time.Second}
		if err := (speechstore.Samples{DB: h.db}).InsertSample(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// fillPathways creates 50 pathways with one version each.
func (h *house) fillPathways(ctx context.Context) error {
	for i := range 50 {
		p, err := h.pathways.Create(ctx, bigOrg, pathway.Draft{Name: fmt.Sprint("Books an inspection ", i)})
		if err != nil {
			return err
		}
		if _, err := h.pathways.StoreVersion(ctx, bigOrg, p.ID, "1", fullWalk().document); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns count consecutive phone numbers. first is the offset of the first of them.
func numbers(first, count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("+1415555%04d", 100+first+i)
	}
	return all
}

// attach attaches an inbound and an outbound trunk to each number.
func (h *house) attach(ctx context.Context, org callwright.OrgID, numbers []string) error {
	for some := range slices.Chunk(numbers, 100) {
		done, err := h.trunks.Attach(ctx, org, sip.Attachment{Numbers: some, Directions: []sip.DirectionInput{
			{Type: sip.Inbound}, {Type: sip.Outbound, Endpoint: new("sip:pbx.example.com")},
		}})
		if err != nil || len(done.Configured) != len(some) {
			return fmt.Errorf("%d are attached: %w", len(done.Configured), err)
		}
	}
	return nil
}

// watch stores a month of health history for the trunks of numbers. A tenth of the trunks have an unreachable server.
func (h *house) watch(ctx context.Context, org callwright.OrgID, numbers []string) error {
	statuses := sipstore.Statuses{DB: h.db}
	for i, number := range numbers {
		t, err := h.trunks.Trunk(ctx, org, number, sip.Outbound)
		if err != nil {
			return err
		}
		s, err := statuses.Status(ctx, org, t.ID)
		if err != nil {
			return err
		}
		s.History, s.Servers[0].Health.State = watched(i, s.Servers[0].Server, time.Now()).History, health.Healthy
		if i%10 == 0 {
			s.Servers[0].Server.Host, s.Servers[0].Health.State = "down.example.com", health.Unreachable
		}
		if err := siptest.StageStatus(ctx, statuses, s); err != nil {
			return err
		}
	}
	return nil
}

// fillLog stores attempts of a trunk in the call log.
func (h *house) fillLog(ctx context.Context) error {
	log := sipstore.CallLog{DB: h.db}
	for i := range 10 * bigSmall {
		at := minutesAgo(i)
		r := calllog.Record{
			ID: fmt.Sprint("log-", i), Org: bigOrg, TrunkID: "t", Number: "+14155550100", Direction: sip.Outbound, From: "+14155550100", To: "+14155550123",
			SIPCallID: "0123456789abcdef@192.0.2.1", Attempt: 1, Server: "pbx.example.com:5061", Node: "n", StartedAt: at,
		}
		if err := log.Begin(ctx, r); err != nil {
			return err
		}
		if err := log.Finish(ctx, bigOrg, r.ID, calllog.End{AnsweredAt: &at, EndedAt: &at, SIPCode: 200, Status: "200 OK"}, nil); err != nil {
			return err
		}
	}
	return nil
}
