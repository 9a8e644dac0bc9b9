package endpoint_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/speech/intonation"
)

var _ conversation.TurnDetector = endpoint.Rules{}

// TestReasons checks the reasons for texts of every language with a data file. Texts are separated by semicolons.
func TestReasons(t *testing.T) {
	t.Parallel()
	for language, reasons := range map[string]map[endpoint.Reason]string{
		"en": {
			endpoint.Unfinished: "I'd like to; I would like to change my; and; my number is; it's; hello,; I mean...; my old address; which documents; I bought; can you; because; I want a table for; so that",
			endpoint.Hesitation: "I need um; umm; let me see; well",
			endpoint.Finished:   "that's all; thank you; a table for two please; yes; no thank you; I'd like to book a table.; Where are you from?; um yes",
			endpoint.Plain:      "i'd like to book a table; my name is john smith; it does not work; I WOULD LIKE A TABLE",
			endpoint.Open:       "I'd like to book a table; I'd like to book a table, for two people; this is john,; I was there...; I have a question about the bill…",
		},
		"de": {
			endpoint.Unfinished: "ich möchte; ich hätte gern einen; und; meine Nummer ist; weil ich; ich rufe Sie an; das Auto ist; ob das ist; unser kleiner Hund",
			endpoint.Hesitation: "ich brauche ähm; Moment",
			endpoint.Finished:   "das wars; vielen Dank; ja; nein danke; rufen Sie mich bitte zurück.; geht das",
			endpoint.Plain:      "ich möchte einen termin vereinbaren; ich wollte fragen ob das Auto schon fertig ist; rufen Sie mich an wenn die Lieferung da ist",
			endpoint.Open:       "Ich möchte einen Termin vereinbaren; ja, hallo zusammen",
		},
		"fr": {
			endpoint.Unfinished: "je voudrais; je voudrais changer mon; et; mon numéro c'est; parce que; est-ce que vous; qu'",
			endpoint.Hesitation: "je cherche euh; attendez",
			endpoint.Finished:   "c'est tout; merci beaucoup; oui; non merci; je voudrais une table s'il vous plaît",
			endpoint.Plain:      "je voudrais réserver une table",
		},
		"es": {
			endpoint.Unfinished: "quisiera; quiero cambiar mi; y; mi número es; porque; me gustaría",
			endpoint.Hesitation: "necesito eh; a ver",
			endpoint.Finished:   "eso es todo; muchas gracias; sí; no gracias; una mesa para dos por favor",
			endpoint.Plain:      "quisiera reservar una mesa",
		},
		"it": {
			endpoint.Unfinished: "vorrei; vorrei cambiare il mio; e; la mia macchina; ho comprato; il mio numero è; perché; c'è",
			endpoint.Hesitation: "ho bisogno ehm; un attimo",
			endpoint.Finished:   "è tutto; grazie mille; sì; no grazie; un tavolo per due per favore",
			endpoint.Plain:      "vorrei prenotare un tavolo",
		},
		"pt": {
			endpoint.Unfinished: "gostaria de; quero mudar a minha; e; o meu número é; porque; no",
			endpoint.Hesitation: "preciso hum; deixa eu ver",
			endpoint.Finished:   "é só isso; muito obrigado; sim; não obrigada; uma mesa para dois por favor",
			endpoint.Plain:      "quero reservar um quarto",
		},
		"nl": {
			endpoint.Unfinished: "ik wil graag; ik wil mijn; en; mijn nummer is; omdat; ik zou; ik bel u op",
			endpoint.Hesitation: "ik zoek eh; even kijken",
			endpoint.Finished:   "dat was het; dank u wel; ja; nee bedankt; een tafel voor twee alstublieft",
			endpoint.Plain:      "ik wil een tafel reserveren; ik wil weten of mijn tafel al klaar is",
		},
	} {
		for why, texts := range reasons {
			for text := range strings.SplitSeq(texts, "; ") {
				if w := (endpoint.Rules{}).Judge(endpoint.Evidence{Text: text, Known: true, Language: language}); w.Why != why {
					t.Errorf("%s: %q is %s (%s), want %s", language, text, w.Why, w.Final, why)
				}
			}
		}
	}
}

// TestBounds checks the least and the longest wait, with their defaults, for every kind of evidence.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		evidence    endpoint.Evidence
		final, like time.Duration
		why         endpoint.Reason
	}{
		{endpoint.Evidence{}, endpoint.DefaultLongest, endpoint.DefaultLongest, endpoint.Unknown},
		{endpoint.Evidence{Text: "yes", Longest: time.Second}, time.Second, time.Second, endpoint.Unknown},
		{endpoint.Evidence{Text: "so...", Known: true, Longest: 100 * time.Millisecond}, endpoint.DefaultLeast, endpoint.DefaultLeast, endpoint.Unfinished},
		{endpoint.Evidence{Text: " . ", Known: true}, 400 * time.Millisecond, 400 * time.Millisecond, endpoint.NoWords},
		{endpoint.Evidence{Text: "yes", Known: true, Asked: "Really?", Least: 2 * time.Second}, 2 * time.Second, 150 * time.Millisecond, endpoint.Answered},
		{endpoint.Evidence{Text: "and", Known: true, Longest: time.Second}, time.Second, time.Second, endpoint.Unfinished},
	} {
		w := (endpoint.Rules{}).Judge(test.evidence)
		if w.Final != test.final || w.Likely != test.like || w.Why != test.why {
			t.Errorf("%+v: %+v", test.evidence, w)
		}
	}
}

// TestIsBound checks the range of the settings, and that the error message states it.
func TestIsBound(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]bool{
		0: true, 1: false, -1: false, endpoint.MinWait: true, endpoint.MinWait - 1: false, endpoint.MaxWait: true, endpoint.MaxWait + 1: false,
	} {
		if got := endpoint.IsBound(d); got != want {
			t.Errorf("IsBound(%s) = %t", d, got)
		}
	}
	want := fmt.Sprintf("must be from %d to %d milliseconds", endpoint.MinWait.Milliseconds(), endpoint.MaxWait.Milliseconds())
	if endpoint.BoundRange != want {
		t.Errorf("the message is %q, want %q", endpoint.BoundRange, want)
	}
}

// TestValues checks the waits for numbers, letters, dates and addresses, with and without an expected answer.
func TestValues(t *testing.T) {
	t.Parallel()
	digits := func(least, most int) expect.Answer { return expect.Answer{Kind: expect.Digits, Min: least, Max: most} }
	for _, test := range []struct {
		language string
		expect   expect.Answer
		text     string
		why      endpoint.Reason
		final    time.Duration
	}{
		{"en", expect.Answer{}, "it's five nine five", endpoint.Number, 2 * time.Second},
		{"en", expect.Answer{}, "555 123", endpoint.Number, 2 * time.Second},
		{"en", expect.Answer{}, "555 123 4567", endpoint.Number, 900 * time.Millisecond},
		{"en", expect.Answer{}, "a table for two", endpoint.Number, time.Second},
		{"en", expect.Answer{}, "A table for 2.", endpoint.Finished, 500 * time.Millisecond},
		{"en", expect.Answer{}, "my number is five um", endpoint.Hesitation, 2 * time.Second},
		{"en", digits(10, 10), "nine one seven", endpoint.Number, 2 * time.Second},
		{"en", digits(10, 10), "555-123-4567.", endpoint.Answered, 300 * time.Millisecond},
		{"en", digits(10, 11), "five double five one two three four five six seven", endpoint.Number, 900 * time.Millisecond},
		{"en", digits(4, 4), "one two three four", endpoint.Answered, 300 * time.Millisecond},
		{"en", digits(0, 0), "seven", endpoint.Number, 2 * time.Second},
		{"en", digits(10, 10), "i don't know", endpoint.Finished, 400 * time.Millisecond},
		{"en", digits(10, 10), "polar lying", endpoint.Incomplete, 1300 * time.Millisecond},
		{"en", digits(10, 10), "I'll look it up.", endpoint.Finished, 500 * time.Millisecond},
		{"ru", digits(10, 10), "пять один", endpoint.Number, 2 * time.Second},
		{"zh", digits(10, 10), "五一", endpoint.Incomplete, 1300 * time.Millisecond},
		{"de", digits(6, 6), "vierundzwanzig achtzehn", endpoint.Number, 2 * time.Second},
		{"de", digits(6, 6), "vierundzwanzig achtzehn null drei", endpoint.Answered, 300 * time.Millisecond},
		{"fr", digits(10, 10), "zéro six soixante-douze", endpoint.Number, 2 * time.Second},
		{"en", expect.Answer{Kind: expect.Spelling}, "s m i", endpoint.Incomplete, 1600 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Spelling, Min: 6, Max: 6}, "A B one two three C", endpoint.Incomplete, 1600 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Spelling, Min: 6, Max: 6}, "A B 1 2 3 C", endpoint.Answered, 300 * time.Millisecond},
		{"en", expect.Answer{}, "my name is smith s m i", endpoint.Incomplete, 1600 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Email}, "john smith", endpoint.Incomplete, 2 * time.Second},
		{"en", expect.Answer{Kind: expect.Email}, "john dot smith at example dot", endpoint.Incomplete, 2 * time.Second},
		{"en", expect.Answer{Kind: expect.Email}, "john smith at example dot com", endpoint.Answered, 300 * time.Millisecond},
		{"de", expect.Answer{Kind: expect.Email}, "max at beispiel punkt de", endpoint.Answered, 300 * time.Millisecond},
		{"en", expect.Answer{}, "My mail is j.smith@example", endpoint.Incomplete, 2 * time.Second},
		{"en", expect.Answer{}, "My mail is jsmith@example.com.", endpoint.Answered, 300 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Date}, "on monday", endpoint.Answered, 600 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Date}, "the fifth of may", endpoint.Incomplete, 1200 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Date}, "may 5", endpoint.Incomplete, 1200 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Date}, "may 1980", endpoint.Answered, 600 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Address}, "12 Main Street", endpoint.Incomplete, 1300 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.Address}, "twelve main street", endpoint.Incomplete, 1300 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.YesNo}, "yes", endpoint.Answered, 350 * time.Millisecond},
		{"en", expect.Answer{Kind: expect.YesNo}, "yes but", endpoint.Unfinished, 2 * time.Second},
	} {
		w := (endpoint.Rules{}).Judge(endpoint.Evidence{Text: test.text, Known: true, Language: test.language, Expect: test.expect})
		if w.Why != test.why || w.Final != test.final {
			t.Errorf("%s: %q (%+v) is %s (%s), want %s (%s)", test.language, test.text, test.expect, w.Why, w.Final, test.why, test.final)
		}
	}
}

// TestForced checks that a period is no evidence if the recognizer has closed the text because of the pause alone.
func TestForced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]endpoint.Reason{
		"I'd like to book a table.":  endpoint.Plain,
		"I'd like to book a table?":  endpoint.Finished,
		"I'd like to book a.":        endpoint.Unfinished,
		"I'd like to book a table,":  endpoint.Open,
		"A table for two.":           endpoint.Number,
		"A table for us, thank you.": endpoint.Finished,
	} {
		if w := (endpoint.Rules{}).Judge(endpoint.Evidence{Text: text, Known: true, Forced: true}); w.Why != want {
			t.Errorf("%q is %s, want %s", text, w.Why, want)
		}
	}
}

// TestPhrases checks that exactly an expected phrase answers the agent, whatever its spelling is.
func TestPhrases(t *testing.T) {
	t.Parallel()
	phrases := []string{"billing", "Opening hours", "\xff"}
	for text, want := range map[string]endpoint.Reason{
		"Opening-Hours": endpoint.Answered, "billing": endpoint.Answered, "billing for": endpoint.Unfinished, "opening": endpoint.Plain,
	} {
		if w := (endpoint.Rules{}).Judge(endpoint.Evidence{Text: text, Known: true, Phrases: phrases}); w.Why != want {
			t.Errorf("%q is %s, want %s", text, w.Why, want)
		}
	}
}

// TestEngine checks that the recognizer's probability decides where the words do not.
func TestEngine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text        string
		probability float64
		why         endpoint.Reason
		final       time.Duration
	}{
		{"i'd like to book a table", 0.9, endpoint.Engine, 400 * time.Millisecond},
		{"I'd like to book a table", 0.9, endpoint.Engine, 400 * time.Millisecond},
		{"i'd like to book a table", 0.5, endpoint.Plain, 680 * time.Millisecond},
		{"i'd like to book a table", 0.1, endpoint.Engine, 1200 * time.Millisecond},
		{"I'd like to book a table.", 0.1, endpoint.Engine, 1200 * time.Millisecond},
		{"i'd like to book a", 0.9, endpoint.Unfinished, 2 * time.Second},
		{"five nine five", 0.9, endpoint.Number, 2 * time.Second},
		{"yes", 0.1, endpoint.Answered, 350 * time.Millisecond},
	} {
		w := (endpoint.Rules{}).Judge(endpoint.Evidence{Text: test.text, Known: true, EndOfTurn: test.probability, Asked: "Well?"})
		if w.Why != test.why || w.Final != test.final {
			t.Errorf("%q, probability %v: %s (%s), want %s (%s)", test.text, test.probability, w.Why, w.Final, test.why, test.final)
		}
	}
}

// TestIntonation checks the waits for texts whose pitch is level or falls at the end.
func TestIntonation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text    string
		contour intonation.Contour
		why     endpoint.Reason
		final   time.Duration
	}{
		{"i'd like to book a table", intonation.Unknown, endpoint.Plain, 680 * time.Millisecond},
		{"i'd like to book a table", intonation.Falling, endpoint.Plain, 680 * time.Millisecond},
		{"i'd like to book a table", intonation.Rising, endpoint.Plain, 680 * time.Millisecond},
		{"i'd like to book a table", intonation.Level, endpoint.Intonation, 1200 * time.Millisecond},
		{"no", intonation.Level, endpoint.Intonation, 700 * time.Millisecond},
		{"no", intonation.Falling, endpoint.Answered, 350 * time.Millisecond},
		{"what is it for", intonation.Unknown, endpoint.Unfinished, 1300 * time.Millisecond},
		{"what is it for", intonation.Falling, endpoint.Intonation, 1000 * time.Millisecond},
		{"I'd like to book a table", intonation.Falling, endpoint.Open, 1400 * time.Millisecond},
		{"I'd like to book a table.", intonation.Level, endpoint.Finished, 500 * time.Millisecond},
		{"i'd like to book a", intonation.Level, endpoint.Unfinished, 2 * time.Second},
		{"call me if you can call my", intonation.Falling, endpoint.Intonation, 1300 * time.Millisecond},
		{"let me see", intonation.Falling, endpoint.Hesitation, 2 * time.Second},
		{"five nine five", intonation.Falling, endpoint.Number, 2 * time.Second},
	} {
		w := (endpoint.Rules{}).Judge(endpoint.Evidence{Text: test.text, Known: true, Contour: test.contour, Asked: "Well?"})
		if w.Why != test.why || w.Final != test.final {
			t.Errorf("%q, %s: %s (%s), want %s (%s)", test.text, test.contour, w.Why, w.Final, test.why, test.final)
		}
	}
}

// TestPatience checks that the waits for a caller with long pauses are longer, and bounded, and that quick callers do not shorten them.
func TestPatience(t *testing.T) {
	t.Parallel()
	final := func(pauses ...time.Duration) time.Duration {
		return (endpoint.Rules{}).Judge(endpoint.Evidence{Text: "i'd like to book a table", Known: true, Pauses: pauses}).Final
	}
	usual := final()
	if quick := final(100*time.Millisecond, 200*time.Millisecond); quick != usual {
		t.Errorf("a quick caller has %s, others %s", quick, usual)
	}
	slow := final(slices.Repeat([]time.Duration{time.Second}, 4)...)
	if slow != usual*3/2 {
		t.Errorf("after four pauses of a second the wait is %s, want %s", slow, usual*3/2)
	}
	if slowest := final(slices.Repeat([]time.Duration{time.Hour}, 1000)...); slowest != (usual * 8 / 5).Truncate(10*time.Millisecond) {
		t.Errorf("the longest wait is %s, want %s", slowest, usual*8/5)
	}
}

// FuzzJudge checks the promises of conversation.TurnDetector for any text.
func FuzzJudge(f *testing.F) {
	f.Add("my number is five", "What is your number?", "en", 0.3, int64(300), int64(3000), 10)
	f.Add("a@b.c…", "", "babel-fr", 1.0, int64(-1), int64(0), 0)
	f.Add("\xff é 日本", "?", "zz", -1.0, int64(5000), int64(100), -3)
	f.Fuzz(func(t *testing.T, text, asked, language string, probability float64, least, longest int64, most int) {
		least, longest = least%10_000, longest%10_000
		for _, kind := range []expect.Kind{expect.Free, expect.Digits, expect.Spelling, expect.YesNo, expect.Date, expect.Email, expect.Address} {
			e := endpoint.Evidence{
				Text: text, Known: true, Asked: asked, Language: language, EndOfTurn: probability, Expect: expect.Answer{Kind: kind, Max: most},
				Least: time.Duration(least) * time.Millisecond, Longest: time.Duration(longest) * time.Millisecond,
			}
			w := endpoint.Rules{}.Judge(e)
			upper := cmp.Or(max(e.Longest, 0), endpoint.DefaultLongest)
			lower := cmp.Or(max(e.Least, 0), endpoint.DefaultLeast)
			upper = max(upper, lower)
			if w.Final < lower || w.Final > upper || w.Likely < 0 || w.Likely > w.Final || w.Why == "" {
				t.Errorf("%+v: %+v", e, w)
			}
			if again := (endpoint.Rules{}).Judge(e); again != w {
				t.Errorf("%+v: first %+v, then %+v", e, w, again)
			}
		}
	})
}

// BenchmarkJudge measures a judgment of a sentence of usual length.
func BenchmarkJudge(b *testing.B) {
	for name, e := range map[string]endpoint.Evidence{
		"sentence": {Text: "I'd like to change my appointment for the dentist from Tuesday at nine to the week after", Language: "en-US"},
		"accents":  {Text: "Ich hätte gern einen Termin für die Zahnärztin, möglichst früh, wenn das geht", Language: "de"},
		"number":   {Text: "my number is five nine five one two three", Language: "en"},
	} {
		e.Known, e.Asked, e.Pauses = true, "What can I do for you?", []time.Duration{time.Second}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				endpoint.Rules{}.Judge(e)
			}
		})
	}
}

// TestJudgeAllocatesNothing checks that a judgment of a usual sentence allocates no memory.
func TestJudgeAllocatesNothing(t *testing.T) {
	e := endpoint.Evidence{Text: "Ich hätte gern einen Termin für nächste Woche, möglichst früh", Known: true, Language: "de", Asked: "Was kann ich tun?"}
	endpoint.Rules{}.Judge(e) // reads the files
	if n := testing.AllocsPerRun(100, func() { endpoint.Rules{}.Judge(e) }); n != 0 {
		t.Errorf("Judge allocates %v times", n)
	}
}
