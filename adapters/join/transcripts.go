package join

import (
	"context"
	"maps"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Transcripts reads the calls from which scenarios are drafted; it implements agenttest.Transcripts.
type Transcripts struct{ Store call.Store }

var _ agenttest.Transcripts = Transcripts{}

// Transcript returns the transcript of an ended call, and CodeInvalidState for a call that has not ended: see agenttest.Transcripts. It
// omits the values of variables, and the agent's actions other than speech.
func (t Transcripts) Transcript(ctx context.Context, org callwright.OrgID, id string) (agenttest.Transcript, error) {
	c, err := t.Store.Get(ctx, org, id)
	if err != nil {
		return agenttest.Transcript{}, err
	}
	if c.EndedAt == nil {
		return agenttest.Transcript{}, callwright.Errorf(callwright.CodeInvalidState, "the call has not ended: try again after its end")
	}
	said, err := t.Store.Transcript(ctx, org, id)
	if err != nil {
		return agenttest.Transcript{}, err
	}
	logs, err := t.Store.Logs(ctx, org, id)
	if err != nil {
		return agenttest.Transcript{}, err
	}
	out := agenttest.Transcript{Pathway: c.Agent.Pathway.ID, Persona: c.Agent.PersonaID, RequestData: maps.Clone(c.RequestData)}
	numbered := slices.ContainsFunc(said, func(e call.Entry) bool { return e.Turn > 0 }) // those of earlier releases are not
	for _, e := range said {
		switch e.Speaker {
		case call.SpeakerUser:
			if numbered && e.Turn == 0 || e.Text == "" {
				continue // words over the agent's, such as an acknowledgement, which were no turn; or words that were not recognized
			}
			out.Lines = append(out.Lines, scenario.Message{Role: llm.RoleCaller, Text: e.Text})
		case call.SpeakerAssistant:
			out.Lines = append(out.Lines, scenario.Message{Role: llm.RoleAgent, Text: e.Text})
		case call.SpeakerAction:
		}
	}
	for _, l := range logs {
		for _, e := range l.Entries {
			switch e.Kind {
			case pathway.LogVisit:
				out.Visits = append(out.Visits, e.Node)
			case pathway.LogVariables:
				for _, name := range slices.Sorted(maps.Keys(e.Variables)) {
					if !slices.Contains(out.Variables, name) {
						out.Variables = append(out.Variables, name)
					}
				}
			case pathway.LogDecision, pathway.LogRequest, pathway.LogKnowledge, pathway.LogLoop, pathway.LogError:
			}
		}
	}
	return out, nil
}
