package calls

import (
	"html/template"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/speech/ambience"
)

// option is an option of a select element.
type option struct{ Value, Text string }

var funcs = template.FuncMap{
	"state": State, "ending": endText, "sipStatus": sipStatus, "release": releaseText, "speaker": speakerText, "millis": millis, "clock": clock,
	"millisText": millisText, "hold": holdText, "wait": waitText, "expected": expectedText, "begun": begunText, "answerer": answererText, "delivery": deliveryOf, "version": versionText,

	"scan":       func() int { return call.MaxScan },
	"directions": func() []option { return []option{{"", "Both"}, {"true", "Inbound"}, {"false", "Outbound"}} },
	"answers":    func() []option { return []option{{"", "Any"}, {"true", "Yes"}, {"false", "No"}} },
	"interruptibilities": func() []option {
		return []option{
			{"", "Use the agent's setting"}, {"0", "Never"}, {"1", "By several words"}, {"2", "By words, not by an “uh-huh”"},
			{"3", "The same, sooner"}, {"4", "By any sound of a voice"},
		}
	},
	"backgrounds": func() []option {
		all := []option{{"", "Use the agent's setting"}, {noBackground, "None"}}
		for _, track := range ambience.Tracks() {
			all = append(all, option{string(track), string(track)})
		}
		return all
	},
	"onVoicemail": reactionsTo(agents.MachineIgnore, agents.MachineHangup, agents.MachineMessage),
	"onScreening": reactionsTo(agents.MachineIgnore, agents.MachineHangup, agents.MachineIntroduce),
	"onMachine":   reactionsTo(agents.MachineIgnore, agents.MachineHangup),
	"settings":    func() []option { return []option{{"", "Use the agent's setting"}, {"true", "Yes"}, {"false", "No"}} },
	"orders":      func() []option { return []option{{"", "Newest first"}, {"true", "Oldest first"}} },
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
