package agentstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

// callEvents holds the transcript lines, logs and notices of a call. Lines and notices are sorted by Seq, logs by Turn.
type callEvents struct {
	lines   []call.Entry
	spoken  *call.Entry // that the agent is speaking; nil if there is none
	logs    []pathway.Log
	notices []call.Notice
}

func lineNumber(e call.Entry) int    { return e.Seq }
func logNumber(l pathway.Log) int    { return l.Turn }
func noticeNumber(n call.Notice) int { return n.Seq }

// Append adds a line to the transcript of a call, and deletes the line that the agent is speaking if it is the agent's. A repeated Seq adds
// nothing.
func (s Calls) Append(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	return s.attach(ctx, org, id, func(events *callEvents) {
		events.lines = placed(events.lines, e, lineNumber)
		if e.Speaker == call.SpeakerAssistant {
			events.spoken = nil
		}
	})
}

// Speak stores the line that the agent of a call is speaking.
func (s Calls) Speak(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	e.Seq = 0
	line := memory.Clone(e)
	return s.attach(ctx, org, id, func(events *callEvents) { events.spoken = &line })
}

// Spoken returns the line that the agent of a call is speaking, and false if there is none.
func (s Calls) Spoken(ctx context.Context, org callwright.OrgID, id string) (e call.Entry, ok bool, err error) {
	events, err := s.events(ctx, org, id)
	if events.spoken == nil {
		return call.Entry{}, false, err
	}
	return memory.Clone(*events.spoken), true, err
}

// attach calls the function add with the events of a call, and stores the changed events. It returns CodeNotFound if the call is absent.
func (s Calls) attach(ctx context.Context, org callwright.OrgID, id string, add func(*callEvents)) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.calls.Exists(org, id); err != nil {
			return err
		}
		events := d.callEvents.Rows()[id]
		add(&events)
		d.callEvents.Set(id, events)
		return nil
	})
}

// placed returns a copy of a sorted list with a copy of the element inserted by its number. If the list already contains that number,
// placed returns the list unchanged.
func placed[T any](list []T, element T, number func(T) int) []T {
	i, found := slices.BinarySearchFunc(list, number(element), func(e T, n int) int { return cmp.Compare(number(e), n) })
	if found {
		return list
	}
	return slices.Insert(slices.Clone(list), i, memory.Clone(element))
}

// events returns the stored events of a call, without copying them. It returns CodeNotFound if the call is absent.
func (s Calls) events(ctx context.Context, org callwright.OrgID, id string) (callEvents, error) {
	return read(ctx, s.Store, func(d *data) (callEvents, error) {
		if err := d.calls.Exists(org, id); err != nil {
			return callEvents{}, err
		}
		return d.callEvents.Rows()[id], nil
	})
}

// Transcript returns the lines of a call, sorted by Seq.
func (s Calls) Transcript(ctx context.Context, org callwright.OrgID, id string) ([]call.Entry, error) {
	events, err := s.events(ctx, org, id)
	return memory.Clone(events.lines), err
}

// TranscriptBefore returns up to limit lines of a call, sorted by Seq: the last lines whose Seq is less than the argument before. If before
// is 0, it returns the last lines of the call.
func (s Calls) TranscriptBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]call.Entry, error) {
	events, err := s.events(ctx, org, id)
	return memory.Clone(lastBefore(events.lines, lineNumber, before, limit)), err
}

// LinesAt returns the lines at the given places of the organization's calls. It omits places without a line.
func (s Calls) LinesAt(ctx context.Context, org callwright.OrgID, places []call.LinePlace) (map[call.LinePlace]call.Entry, error) {
	found := map[call.LinePlace]call.Entry{}
	err := with(ctx, s.Store, func(d *data) error {
		for _, place := range places {
			if d.calls.Exists(org, place.Call) != nil {
				continue
			}
			lines := lastBefore(d.callEvents.Rows()[place.Call].lines, lineNumber, place.Seq+1, 1)
			if len(lines) == 1 && lines[0].Seq == place.Seq {
				found[place] = memory.Clone(lines[0])
			}
		}
		return nil
	})
	return found, err
}

// lastBefore returns up to limit elements of a sorted list: the last elements whose number is less than the argument before. If before is
// 0, it returns the last elements of the list.
func lastBefore[T any](list []T, number func(T) int, before, limit int) []T {
	if before > 0 {
		end, _ := slices.BinarySearchFunc(list, before, func(e T, n int) int { return cmp.Compare(number(e), n) })
		list = list[:end]
	}
	return list[max(0, len(list)-limit):]
}

// AppendLog adds the log of a turn to a call. A repeated Turn changes nothing.
func (s Calls) AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error {
	return s.attach(ctx, org, id, func(events *callEvents) { events.logs = placed(events.logs, l, logNumber) })
}

// Logs returns the logs of a call, sorted by Turn.
func (s Calls) Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error) {
	events, err := s.events(ctx, org, id)
	return memory.Clone(events.logs), err
}

// LogsBefore returns up to limit logs of a call, sorted by Turn: the last logs whose Turn is less than the argument before. If before is 0,
// it returns the last logs of the call.
func (s Calls) LogsBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error) {
	events, err := s.events(ctx, org, id)
	return memory.Clone(lastBefore(events.logs, logNumber, before, limit)), err
}

// AppendNotice adds a notice for the webhook of a call. A repeated Seq changes nothing.
func (s Calls) AppendNotice(ctx context.Context, org callwright.OrgID, id string, n call.Notice) error {
	return s.attach(ctx, org, id, func(events *callEvents) { events.notices = placed(events.notices, n, noticeNumber) })
}

// Notice returns one notice of a call, or CodeNotFound if the call or the notice is absent.
func (s Calls) Notice(ctx context.Context, org callwright.OrgID, id string, seq int) (call.Notice, error) {
	events, err := s.events(ctx, org, id)
	if err != nil {
		return call.Notice{}, err
	}
	i := slices.IndexFunc(events.notices, func(n call.Notice) bool { return n.Seq == seq })
	if i < 0 {
		return call.Notice{}, callwright.NotFound("notice")
	}
	return events.notices[i], nil
}
