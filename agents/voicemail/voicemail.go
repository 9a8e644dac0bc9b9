// Package voicemail implements answering machine detection: it identifies the party that answered a call by the beginning of the other
// side's audio, and by the recognized words, if there are any. A person says a few words and waits; a machine plays a long greeting or a
// tone. The sound gives a verdict at once. Words, which arrive later, correct it, and distinguish menus, announcements and call screening
// from answering machines.
package voicemail

import (
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail/phrases"
	"github.com/callwright/callwright/speech/activity"
)

// These constants limit the rules. They favor the verdict "person", because hanging up on a person is worse than talking to a machine.
const (
	frameTime = 20 * time.Millisecond

	// greetingPause is the shortest pause that ends a person's greeting.
	greetingPause = time.Second
	// maxPersonGreeting is the duration from which a greeting counts as a machine's. A person's "Thank you for calling so and so, this is
	// Anna, how may I help you?" takes four seconds.
	maxPersonGreeting = 5500 * time.Millisecond
	// maxContinuation is the duration of speech after a short greeting from which a machine has spoken both, if the agent was silent.
	maxContinuation = 2500 * time.Millisecond
	// latestReply is the time after the agent's words within which speech may reply to them.
	latestReply = 3 * time.Second
	// leastVoice is the ratio of the duration of a stretch of speech to its voice from which it is no speech, but single sounds.
	leastVoice = 3
	// shortest is the minimum duration of voice in a greeting. Shorter sounds are clicks.
	shortest = 100 * time.Millisecond
	// spoken is the duration of voice after which the network's tones and those of fax machines are not expected any more.
	spoken = 300 * time.Millisecond
	// searchTime is the time without a verdict after which the verdict is unknown.
	searchTime = 30 * time.Second
	// greetingSilence is the silence that ends a machine's greeting without a tone.
	greetingSilence = 2 * time.Second
	// promptSilence is the silence that ends the question of call screening, whose service does not wait long for the answer.
	promptSilence = time.Second
	// latestCorrection is the time of the call after which words no longer turn a person into a machine.
	latestCorrection = 30 * time.Second
)

// Detector identifies the party that answered one call. It must receive the audio from the answer on. It is not safe for concurrent use.
type Detector struct {
	activity *activity.Detector
	tones    tones
	language string

	answerer  call.Answerer
	elapsed   time.Duration
	gap       time.Duration // time since the last sound of a voice or a tone
	began     time.Duration // elapsed time at the beginning of the stretch of speech
	voiceTime time.Duration // duration of voice in the stretch of speech
	run       time.Duration // voice without a pause until the last frame, at most reportTime
	stretches int           // number of stretches of speech that have ended
	stretch   envelope      // of the stretch of speech
	first     envelope      // of the first stretch of speech
	agent     time.Duration // elapsed time at the agent's last sound; 0 means none
	replies   bool          // the stretch of speech may reply to the agent's words
	beeped    bool          // a tone was heard, and no speech after it

	said    string // words of the other side's earlier turns
	current string // words of the other side's current turn
	unread  bool   // words have arrived since the last frame
}

// New returns a detector for audio of 8000, 16000 or 48000 samples per second. language is the language of the words, as in
// phrases.Classify. network may be nil: see activity.New.
func New(rate int, language string, network activity.Network) *Detector {
	return &Detector{activity: activity.New(rate, network), language: language}
}

// Hear implements call.AMD.
func (d *Detector) Hear(f conversation.Frame) call.Answerer {
	d.elapsed += frameTime
	d.gap += frameTime
	v := d.activity.Hear(f.In, f.Out)
	if len(f.Out) > 0 {
		d.agent = d.elapsed
	}
	kind := d.tones.hear(v, d.stretches > 0 || d.voiceTime >= spoken)
	switch {
	case d.tones.sounds():
		d.gap = 0
		d.voiceTime -= d.run // the beginning of the tone counted as speech
		d.run = 0
	case v.Kind == activity.Speech:
		d.run = min(d.run+frameTime, reportTime)
		d.speak()
	default:
		d.run = 0
	}
	if d.voiceTime > 0 {
		d.stretch.add(v.Level)
	}
	before := d.answerer
	d.judgeTone(kind)
	d.judgeSound()
	if d.unread {
		d.unread = false
		d.judgeWords()
	}
	if d.elapsed > call.MaxAMD {
		d.answerer = before
	}
	if d.answerer != before {
		d.answerer.At = f.Elapsed
	}
	return d.answerer
}

// speak processes a frame that contains speech.
func (d *Detector) speak() {
	if d.voiceTime == 0 {
		d.began = d.elapsed
		d.replies = d.agent > 0 && (d.elapsed-d.agent < latestReply || d.stretches > 0)
	}
	if d.voiceTime += frameTime; d.voiceTime >= spoken {
		d.beeped = false // the tone preceded the greeting
	}
	d.gap = 0
}

// judgeTone applies the verdict of a tone.
func (d *Detector) judgeTone(kind toneKind) {
	switch kind {
	case beep:
		d.beeped, d.gap = true, sinceTone
		if d.answerer.Category != call.CategoryScreening && !(d.answerer.Rule == call.RuleTone) {
			d.decide(call.CategoryVoicemail, call.RuleBeep, "")
		}
	case fax:
		d.decide(call.CategoryFax, call.RuleTone, "")
	case information:
		d.decide(call.CategorySIT, call.RuleTone, "")
	case none:
	}
}

// judgeSound applies the rules for the durations of speech and pauses.
func (d *Detector) judgeSound() {
	speech := d.voiceTime > 0
	length := d.elapsed - d.gap - d.began
	dense := d.voiceTime >= length/leastVoice
	undecided, human := d.answerer.Category == "", d.answerer.Category == call.CategoryHuman && d.answerer.Rule == call.RuleShortGreeting
	switch {
	case undecided && dense && !d.replies && length >= maxPersonGreeting:
		d.decide(call.CategoryVoicemail, call.RuleLongGreeting, "")
	case human && dense && !d.replies && length >= maxContinuation:
		d.decide(call.CategoryVoicemail, call.RuleUnanswered, "")
	case speech && d.gap >= greetingPause:
		if d.voiceTime >= shortest {
			d.endStretch(undecided, human)
		}
		d.voiceTime, d.stretch.n = 0, 0
	case undecided && d.elapsed >= searchTime:
		d.decide(call.CategoryUnknown, call.RuleNoSpeech, "")
	}
}

// endStretch ends a stretch of speech. A person who has said a short greeting waits; a recording that is repeated belongs to a machine.
func (d *Detector) endStretch(undecided, human bool) {
	d.stretch.n -= int(d.gap / frameTime)
	switch {
	case undecided:
		d.decide(call.CategoryHuman, call.RuleShortGreeting, "")
	case human && !d.replies && d.stretch.repeats(&d.first):
		d.decide(call.CategoryVoicemail, call.RuleUnanswered, "")
	}
	if d.stretches == 0 {
		d.first = d.stretch
	}
	d.stretches++
}

// judgeWords applies the words so far.
func (d *Detector) judgeWords() {
	category, phrase := phrases.Classify(d.language, d.said+" "+d.current)
	by := d.answerer
	switch {
	case category == "", by.Rule == call.RuleTone, by.Rule == call.RuleBeep && category != call.CategoryScreening:
	case category == call.CategoryHuman && by.Sure:
	case by.Category == call.CategoryHuman && d.elapsed > latestCorrection:
	case by.Category == category && by.Rule == call.RuleWords:
	default:
		d.decide(category, call.RuleWords, phrase)
	}
}

// decide sets the verdict.
func (d *Detector) decide(category call.Category, rule call.AnswererRule, words string) {
	sure := rule == call.RuleWords || rule == call.RuleBeep || rule == call.RuleTone
	d.answerer = call.Answerer{Category: category, Rule: rule, Words: words, Sure: sure}
}

// maxText bounds the words of earlier turns in bytes.
const maxText = 2000

// Words implements call.AMD.
func (d *Detector) Words(text string, final bool) {
	d.current, d.unread = text, true
	if final && len(d.said) < maxText {
		d.said, d.current = d.said+" "+text, ""
	}
}

// Ended implements call.AMD.
func (d *Detector) Ended() bool {
	switch {
	case d.tones.sounds():
		return false
	case d.beeped:
		return d.gap >= sinceTone
	case d.answerer.Category == call.CategoryScreening:
		return d.gap >= promptSilence
	default:
		return d.gap >= greetingSilence
	}
}
