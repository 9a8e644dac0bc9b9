package calls

import (
	"html/template"

	"github.com/callwright/callwright/agents/call"
)

// option is an option of a select element.
type option struct{ Value, Text string }

var funcs = template.FuncMap{
	"state": State, "ending": endText, "sipStatus": sipStatus, "release": releaseText, "speaker": speakerText, "millis": millis, "clock": clock,
	"millisText": millisText, "hold": holdText, "wait": waitText, "expected": expectedText, "begun": begunText, "unrecognized": unrecognizedText, "answerer": answererText, "delivery": deliveryOf, "version": versionText, "costs": costsText,

	"scan":       func() int { return call.MaxScan },
	"directions": func() []option { return []option{{"", "Both"}, {"true", "Inbound"}, {"false", "Outbound"}} },
	"answers":    func() []option { return []option{{"", "Any"}, {"true", "Yes"}, {"false", "No"}} },
	"settings":   func() []option { return []option{{"", "Use the agent's setting"}, {"true", "Yes"}, {"false", "No"}} },
	"orders":     func() []option { return []option{{"", "Newest first"}, {"true", "Oldest first"}} },
	"outcomes": func() []option {
		return anyOf(call.StatusCompleted, call.StatusFailed, call.StatusBusy, call.StatusNoAnswer, call.StatusCanceled, call.StatusUnknown)
	},
	"answerers": func() []option {
		return anyOf(call.AnsweredByHuman, call.AnsweredByVoicemail, call.AnsweredByUnknown, call.AnsweredByNobody)
	},
}

func anyOf[T ~string](values ...T) []option {
	all := []option{{"", "Any"}}
	for _, v := range values {
		all = append(all, option{string(v), string(v)})
	}
	return all
}
