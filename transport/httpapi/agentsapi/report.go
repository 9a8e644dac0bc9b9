package agentsapi

import (
	"encoding/json"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// member is a member in the body of an update, with the setting that it changes.
type member struct {
	name    string
	setting agents.Setting
	given   interface {
		json.Marshaler
		IsSet() bool
	}
}

// updateReport returns an answer that lists the applied members of a body, and the refused members with the reasons. It omits members that
// the body does not set.
func updateReport(message string, warnings []string, ignored oas.IgnoredMembers, report agents.Report, members []member) (*oas.UpdateReply, error) {
	answer := &oas.UpdateReply{
		Status: oas.SuccessStatusSuccess, Message: message,
		Updates: oas.UpdateReplyUpdates{}, FailedUpdates: oas.UpdateReplyFailedUpdates{}, Warnings: warnings, Ignored: ignored,
	}
	for _, m := range members {
		refusal, tried := report[m.setting]
		switch {
		case !tried || !m.given.IsSet():
		case refusal != nil:
			_, _, answer.FailedUpdates[m.name] = httpapi.Explain(refusal)
		default:
			text, err := m.given.MarshalJSON()
			if err != nil {
				return nil, err
			}
			answer.Updates[m.name] = jx.Raw(text)
		}
	}
	return answer, nil
}
