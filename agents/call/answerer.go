package call

import "time"

// Answerer identifies the party that answered a call. The zero value is undecided.
type Answerer struct {
	Category Category
	Rule     AnswererRule
	At       time.Duration // time of the call: see conversation.Frame.Elapsed
	Words    string        // the other side's words that decided; empty unless Rule is RuleWords
	// Sure reports that the Category follows from words or from a machine's tone. Words often correct an unsure Category.
	Sure bool
}

// Category classifies the party that answered a call.
type Category string

// The categories of answerers.
const (
	CategoryHuman        Category = "human"
	CategoryVoicemail    Category = "voicemail"    // an answering machine
	CategoryIVR          Category = "ivr"          // a menu: press or say an option
	CategoryScreening    Category = "screening"    // a phone or a service that asks for the caller's name and reason
	CategoryAnnouncement Category = "announcement" // a recording of the network, for example about a number that is not in service
	CategorySIT          Category = "sit"          // special information tones, which precede an announcement (ITU-T E.180)
	CategoryFax          Category = "fax"          // a fax machine (ITU-T T.30)
	CategoryUnknown      Category = "unknown"      // an AMD could not decide
)

// AnswererRule names the rule that decided a Category.
type AnswererRule string

// The rules of identification.
const (
	RuleShortGreeting AnswererRule = "short_greeting" // a few words and a pause
	RuleLongGreeting  AnswererRule = "long_greeting"  // a person does not speak for so long
	RuleUnanswered    AnswererRule = "unanswered"     // the other side continued or repeated a recording after a pause, although the agent was silent
	RuleBeep          AnswererRule = "beep"           // a single tone
	RuleTone          AnswererRule = "tone"           // the tones of a fax machine, or special information tones
	RuleWords         AnswererRule = "words"
	RuleNoSpeech      AnswererRule = "no_speech" // nothing that decides was heard in time
)

// answeredBy returns the party that the record names: machines other than answering machines are unknown.
func (a Answerer) answeredBy() AnsweredBy {
	switch a.Category {
	case CategoryHuman:
		return AnsweredByHuman
	case CategoryVoicemail:
		return AnsweredByVoicemail
	default:
		return AnsweredByUnknown
	}
}
