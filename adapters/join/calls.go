package join

import (
	"cmp"
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
)

// Calls resolves calls for issues; it implements triage.ResourceResolver. It reads their store and not call.Service, because call.Service
// reports failed calls through FailedCalls, which requires the issues first.
type Calls struct{ Store call.Store }

var _ triage.ResourceResolver = Calls{}

// Find returns the titles and metadata of calls, by id. It omits absent calls.
func (l Calls) Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]triage.Item, error) {
	return find(ids, func(id string) (triage.Item, error) {
		c, err := l.Store.Get(ctx, org, id)
		return triage.Item{Title: c.Title() + ", " + formatTime(c.CreatedAt), Metadata: map[string]any{
			"created_at": stamp(c.CreatedAt), "status": status(c), "from": callwright.Clip(c.From, maxParty), "to": callwright.Clip(c.To, maxParty),
		}}, err
	})
}

// Maximum lengths, in bytes, of texts that the other side of a call chooses, such as the numbers and the reason for the end.
const (
	maxParty  = 100
	maxReason = 500
)

// status returns the outcome of a call, or its state in the queue if it has no outcome yet.
func status(c call.Call) string { return cmp.Or(string(c.Status), string(c.Queue)) }

// Read returns the evidence about a call for analysts: its outcome, its agent, the log of each turn and the whole transcript, line by line.
// It returns CodeNotFound if the organization does not own such a call.
func (l Calls) Read(ctx context.Context, org callwright.OrgID, id string) (triage.Evidence, error) {
	c, err := l.Store.Get(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	transcript, err := l.Store.Transcript(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	logs, err := l.Store.Logs(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	f := facts{leftOut: "The call's metadata, webhook, tools and requests, and the values of its variables, are not shown."}
	f.course(c)
	f.agent(c)
	f.turns(logs)
	return triage.Evidence{Facts: f, Lines: lines(transcript)}, nil
}

// course adds facts about the direction, the numbers, the times, the outcome and the audio of a call.
func (f facts) course(c call.Call) {
	f.add("direction", "outgoing")
	if c.Inbound {
		f.add("direction", "incoming")
	}
	f.add("from", callwright.Clip(c.From, maxParty))
	f.add("to", callwright.Clip(c.To, maxParty))
	f.add("status", status(c))
	f.add("error", c.ErrorMessage)
	if e := c.Ending; e != nil {
		f.add("ended_by", "this side")
		if e.ByPeer {
			f.add("ended_by", "the other side")
		}
		f.add("cause", string(e.Cause))
		f.add("sip_code", e.SIPCode)
		f.add("reason", callwright.Clip(e.Reason, maxReason))
	}
	f.at("created_at", &c.CreatedAt)
	f.at("answered_at", c.StartedAt)
	f.at("ended_at", c.EndedAt)
	f.add("seconds", c.Length().Seconds())
	f.add("answered_by", string(c.AnsweredBy))
	f.add("transferred_to", c.TransferredTo)
	f.add("transferred_by", string(c.TransferredBy))
	f.add("retry_of", c.RetryOf)
	f.add("retried_by", c.RetriedBy)
	f.add("summary", c.Analysis.Summary)
	f.add("disposition", c.Analysis.Disposition)
	f.add("codec", c.Carriage.Codec)
	if c.StartedAt != nil && c.EndedAt != nil {
		f["audio_packets"] = map[string]any{
			"sent": c.Stats.Sent, "received": c.Stats.Received, "lost": c.Stats.Lost, "late": c.Stats.Late,
			"jitter_ms": c.Stats.Jitter.Milliseconds(),
		}
	}
}

// agent adds facts about the configuration of the call's agent.
func (f facts) agent(c call.Call) {
	a := c.Agent
	f.add("pathway_id", a.Pathway.ID)
	if c.PathwayNumber != nil {
		f["pathway_version"] = *c.PathwayNumber // 0 means the draft
	}
	f.add("start_node", a.Pathway.StartNode)
	f.add("task", a.Task)
	f.add("persona", a.Persona)
	f.add("first_sentence", a.FirstSentence)
	f.add("language", a.Language)
	f.add("voice", a.Voice)
	f.add("model", c.ModelUsed)
	f.add("transfer_number", a.TransferTo.String())
	f.add("voicemail", string(c.Plan.Voicemail.Action))
	f.add("longest_seconds", a.MaxDuration.Seconds())
}

// lines converts a transcript to lines. The index of a line is its position in the transcript.
func lines(transcript []call.Entry) []triage.Line {
	out := make([]triage.Line, len(transcript))
	for i, e := range transcript {
		out[i] = triage.Line{Agent: e.Speaker != call.SpeakerUser, Text: e.Words()}
		if e.Speaker == call.SpeakerAction {
			out[i].Text = "(" + e.Text + ")"
		}
	}
	return out
}
