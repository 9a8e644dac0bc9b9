package endpoint_test

import (
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
)

var _ conversation.TurnDetector = endpoint.Rules{}

// TestReasons checks the reasons for texts of every language with a data file. Texts are separated by semicolons.
func TestReasons(t *testing.T) {
	t.Parallel()
	for language, reasons := range map[string]map[endpoint.Reason]string{
		"en": {
			endpoint.Unfinished: "I'd like to; I would like to change my; and; my number is; it's; hello,; I mean...; can you; because; I want a table for; so that",
			endpoint.Hesitation: "I need um; umm; let me see; well",
			endpoint.Finished:   "that's all; thank you; a table for two please; yes; no thank you; I'd like to book a table.; Where are you from?; um yes",
			endpoint.Plain:      "i'd like to book a table; my name is john smith; it does not work; I WOULD LIKE A TABLE",
			endpoint.Open:       "I'd like to book a table; I'd like to book a table, for two people; this is john,; I was there...; I have a question about the bill…",
		},
		"de": {
			endpoint.Unfinished: "ich möchte; ich hätte gern einen; und; meine Nummer ist; weil ich; ich rufe Sie an",
			endpoint.Hesitation: "ich brauche ähm; Moment",
			endpoint.Finished:   "das wars; vielen Dank; ja; nein danke; rufen Sie mich bitte zurück.; geht das",
			endpoint.Plain:      "ich möchte einen termin vereinbaren",
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
			endpoint.Unfinished: "vorrei; vorrei cambiare il mio; e; il mio numero è; perché; c'è",
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
			endpoint.Plain:      "ik wil een tafel reserveren",
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
		{endpoint.Evidence{Text: "[noise]...", Known: true, Longest: 100 * time.Millisecond}, 100 * time.Millisecond, 100 * time.Millisecond, endpoint.Plain},
		{endpoint.Evidence{Text: " . ", Known: true}, 400 * time.Millisecond, 400 * time.Millisecond, endpoint.NoWords},
		{endpoint.Evidence{Text: "yes", Known: true, Asked: "Really?", Least: 2 * time.Second}, 2 * time.Second, 150 * time.Millisecond, endpoint.Answered},
		{endpoint.Evidence{Text: "and", Known: true, Longest: time.Second}, time.Second, time.Second, endpoint.Unfinished},
	} {
		w := (endpoint.Rules{}).Judge(test.evidence)
		if w.Final != test.final || w.Likely != test.like || test.why != endpoint.Plain && w.Why != test.why {
			t.Errorf("%+v: %+v", test.evidence, w)
		}
	}
}
