package agentsapi

import (
	"encoding/json"
	"fmt"
	"strings"

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
			answer.FailedUpdates[m.name] = m.explain(refusal)
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

// explain returns the reason of a refusal. It begins with the path of the wrong part, such as voice_settings.speed, if that is a part of the
// member's value.
func (m member) explain(refusal error) string {
	_, path, text := httpapi.Explain(refusal)
	if inside, ok := strings.CutPrefix(path, string(m.setting)); ok && inside != "" {
		return m.name + inside + ": " + text
	} else if path != "" && !ok {
		return path + ": " + text // another setting is the reason
	}
	return text
}

// noteRefusals makes the message of an answer say how many settings were refused.
func noteRefusals(answer *oas.UpdateReply) {
	switch refused := len(answer.FailedUpdates); {
	case refused == 0:
	case len(answer.Updates) == 0:
		answer.Message = "Nothing was updated: failed_updates has the reasons."
	case refused == 1:
		answer.Message += " One setting was refused: failed_updates has the reason."
	default:
		answer.Message += fmt.Sprintf(" %d settings were refused: failed_updates has the reasons.", refused)
	}
}
