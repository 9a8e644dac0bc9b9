package calls

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// State returns the badge of a call's state.
func State(c call.Call) page.Badge {
	switch {
	case c.EndedAt == nil && c.StartedAt != nil:
		return page.Badge{Kind: "busy", Text: "talking"}
	case c.EndedAt == nil && c.Queue == call.QueueAllocated && c.Inbound:
		return page.Badge{Kind: "busy", Text: "ringing here"}
	case c.EndedAt == nil && c.Queue == call.QueueAllocated:
		return page.Badge{Kind: "busy", Text: "dialing"}
	case c.EndedAt == nil:
		return page.Badge{Kind: "busy", Text: "waiting"}
	case c.Status == call.StatusCompleted:
		return page.Badge{Kind: "good", Text: string(c.Status)}
	case c.Status == call.StatusFailed:
		return page.Badge{Kind: "bad", Text: string(c.Status)}
	}
	return page.Badge{Kind: "plain", Text: string(c.Status)}
}

// causes maps the causes with which calls end to descriptions.
var causes = map[call.Cause]string{
	call.CauseLocalHangup: "the agent hung up", call.CauseRemoteHangup: "the other side hung up", call.CauseBusy: "the number called is busy",
	call.CauseRedirected: "the other side redirected the call, which the trunk does not follow", call.CauseRejected: "the call was refused", call.CauseNoAnswer: "nobody answered", call.CauseCancelled: "the call was given up before the answer",
	call.CauseUnreachable: "no server of the trunk could be reached", call.CauseAuthFailed: "the server refused the trunk's credentials",
	call.CauseMediaTimeout: "no audio came from the other side any more", call.CauseNotAcceptable: "the two sides have no codec or no encryption in common",
	call.CauseUnavailable: "nobody was there to take the call", call.CauseOverload: "one of the servers had no room for the call",
	call.CauseMaxDuration: "the call had reached its longest duration", call.CauseTransferred: "the other side was transferred",
	call.CauseNoACK: "the caller never confirmed the answer", call.CauseNodeLost: "the server on which the call ran stopped",
	call.CauseDrained:   "the server was stopped, and the time that running calls have then was over",
	call.CauseNoAgent:   "nothing answers at the number: it has no task, pathway, persona or brain",
	call.CauseNoPathway: "the agent's pathway or persona no longer exists", call.CauseModelRefused: "the language model refuses the key or the request",
	call.CauseModelFailed: "the language model failed", call.CauseServiceFailed: "a service that the conversation needs failed", call.CauseInternal: "this server failed",
	call.CauseFax: "a fax machine answered", call.CauseAnnouncement: "the network played an announcement",
	call.CauseSIT: "the network played special information tones",
}

// endText describes the end of a call, or returns an empty text if it is unknown.
func endText(c call.Call) string {
	if c.Ending == nil {
		return ""
	}
	if c.StopRequested && (c.Ending.Cause == call.CauseLocalHangup || c.Ending.Cause == call.CauseCancelled) {
		return "stopped by a user"
	}
	return cmp.Or(causes[c.Ending.Cause], string(c.Ending.Cause))
}

// speakerText describes who spoke a line.
func speakerText(s call.Speaker) string {
	switch s {
	case call.SpeakerUser:
		return "Other side"
	case call.SpeakerAssistant:
		return "Agent"
	case call.SpeakerAction:
		return "Action"
	}
	return string(s)
}

// answererText describes the party that answered, and the rule that decided.
func answererText(a call.Answerer) string {
	who := map[call.Category]string{
		call.CategoryHuman: "a person", call.CategoryVoicemail: "an answering machine", call.CategoryIVR: "a menu",
		call.CategoryScreening: "call screening", call.CategoryAnnouncement: "an announcement of the network",
		call.CategorySIT: "special information tones of the network", call.CategoryFax: "a fax machine",
	}[a.Category]
	why := map[call.AnswererRule]string{
		call.RuleShortGreeting: "a few words and a pause", call.RuleLongGreeting: "a long greeting",
		call.RuleUnanswered: "it went on after a pause", call.RuleBeep: "a tone", call.RuleTone: "its tones",
		call.RuleNoSpeech: "nothing that decides was heard", call.RuleWords: "the words “" + a.Words + "”",
	}[a.Rule]
	return cmp.Or(who, "unknown") + ", by " + cmp.Or(why, string(a.Rule))
}

// heldText describes why a pause of the agent ended.
func heldText(why conversation.HoldReason) string {
	switch why {
	case conversation.HoldNoise:
		return "a sound without words"
	case conversation.HoldBackChannel:
		return "an acknowledgement"
	case conversation.HoldFiller:
		return "a hesitation"
	case conversation.HoldIgnored:
		return "too few words to interrupt"
	case conversation.HoldTimeout:
		return "no words in time"
	case conversation.HoldCut:
		return "then stopped"
	case conversation.HoldOnHold:
		return "the other side had put the call on hold"
	}
	return string(why)
}

// unrecognizedText describes why words of the other side were not recognized.
func unrecognizedText(why conversation.Unrecognized) string {
	switch why {
	case conversation.UnrecognizedTimeout:
		return "not recognized: the recognizer returned no text in time"
	case conversation.UnrecognizedUnavailable:
		return "not recognized: the recognizer is not available"
	case conversation.UnrecognizedRefused:
		return "not recognized: the recognizer refuses the request or the key"
	case conversation.UnrecognizedError:
		return "not recognized: the recognizer failed"
	}
	return "not recognized: " + string(why)
}

// expectedText describes the answer that the agent expected, and the digits that were understood.
func expectedText(e conversation.Expected) string {
	what := map[expect.Kind]string{
		expect.Digits: "digits", expect.Spelling: "a spelling", expect.YesNo: "yes or no", expect.Date: "a date or a time",
		expect.Email: "an e-mail address", expect.Address: "a postal address",
	}[e.Kind]
	text := "expected " + cmp.Or(what, string(e.Kind))
	switch {
	case e.Min > 0 && e.Min == e.Max:
		text += " (" + strconv.Itoa(e.Min) + ")"
	case e.Min > 0 && e.Max > 0:
		text += " (" + strconv.Itoa(e.Min) + " to " + strconv.Itoa(e.Max) + ")"
	case e.Min > 0:
		text += " (at least " + strconv.Itoa(e.Min) + ")"
	case e.Max > 0:
		text += " (at most " + strconv.Itoa(e.Max) + ")"
	}
	if e.Kind == expect.Digits {
		text += ", heard " + cmp.Or(e.Digits, "none")
	}
	return text
}

// reasons maps the reasons for which turns end to descriptions of the words before the silence.
var reasons = map[endpoint.Reason]string{
	endpoint.Unknown: "the words were not recognized yet", endpoint.NoWords: "no words", endpoint.Answered: "the question was answered",
	endpoint.Finished: "a complete sentence", endpoint.Plain: "words without a clear end", endpoint.Open: "a sentence without its end",
	endpoint.Unfinished: "an unfinished sentence", endpoint.Hesitation: "a hesitation", endpoint.Number: "a number",
	endpoint.Incomplete: "an incomplete answer", endpoint.Engine: "the recognizer's judgment", endpoint.Intonation: "the pitch of the last words",
}

// reasonText describes why a turn ended after a silence.
func reasonText(why endpoint.Reason) string { return cmp.Or(reasons[why], string(why)) }

func millis(d time.Duration) int64 { return d.Milliseconds() }

// clock formats a position in a call: 1:02.5, or 1:00:02.5 after an hour.
func clock(d time.Duration) string {
	tenths := max(0, d.Milliseconds()/100)
	seconds, rest := tenths/10, strconv.FormatInt(tenths%10, 10)
	if hours := seconds / 3600; hours > 0 {
		return fmt.Sprintf("%d:%02d:%02d.%s", hours, seconds/60%60, seconds%60, rest)
	}
	return fmt.Sprintf("%d:%02d.%s", seconds/60, seconds%60, rest)
}

// versionText describes which version of a pathway led a call. 0 means the draft.
func versionText(n *int) string {
	if *n == 0 {
		return "the draft"
	}
	return "version " + strconv.Itoa(*n)
}

// millisText formats a short duration in milliseconds with one decimal.
func millisText(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds()*1000, 'f', 1, 64) + " ms"
}

// deliveries maps the states of deliveries to badges.
var deliveries = map[call.DeliveryState]page.Badge{
	call.DeliveryPending: {Kind: "busy", Text: "pending"}, call.DeliveryDelivered: {Kind: "good", Text: "delivered"},
	call.DeliveryGivenUp: {Kind: "bad", Text: "given up"},
}

// deliveryOf returns the badge of a delivery's state.
func deliveryOf(s call.DeliveryState) page.Badge {
	if b, ok := deliveries[s]; ok {
		return b
	}
	return page.Badge{Kind: "plain", Text: string(s)}
}
