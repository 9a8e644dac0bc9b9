package overlap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/conversation/overlap"
)

// texts are texts of each kind, separated by semicolons.
type texts struct{ backChannel, filler, stop, words string }

//nolint:dupword,misspell // callers repeat words, and not all of them are English
var languages = map[string]texts{
	"en": {
		"uh-huh; uh huh; Uh-huh.; uhhuh; mhm; mm hmm; Mm-hmm!; mmhm; mm hm; MMM; hmmm; yeah yeah; yeah, yeah, yeah; okay; OK; o k; right; yes; " +
			"I see; oh I see; i see okay; go on; okay go on please; yeah okay sure; um okay; that's right; thats right; all right; sure thing; " +
			"got it; sounds good; oh really; wow; yeaaah; okay okay okay; well yes",
		"um; uh; uhhh; er; well; um uh; you know",
		"stop; okay stop; wait; wait wait wait; um hold on; hold on a second; please stop; excuse me; okay, one moment, please; hang on",
		"no; no no; yes but I have a question; yes but; but; okay and then; what; huh; okay what; I see the problem; stop please I have a question; " +
			"go on vacation; right now; why; I can't hear you; 5; okay 5; never; uh what; the; yes I do; good morning; not okay",
	},
	"es": {
		"sí; si; sí, sí; ajá; claro; claro que sí; vale; vale vale; ya veo; de acuerdo; entiendo; muy bien; siga por favor; okay; mhm; sí claro perfecto",
		"eh; este; pues; eh pues",
		"espere; espera; sí espere un momento; para; basta; un momento por favor; perdón; oiga",
		"no; sí pero; pero; qué; no entiendo; sí tengo una pregunta; vale y cuánto cuesta; cómo; mañana",
	},
	"fr": {
		"oui; ouais; oui oui; d'accord; d accord; daccord; D’accord.; je vois; c'est ça; cest ca; très bien; bien sûr; mhm; tout à fait; continuez; ah oui d'accord",
		"euh; ben; euh alors",
		"stop; attendez; oui attendez; un instant s'il vous plaît; arrêtez; excusez-moi; oui, une seconde",
		"non; oui mais; mais; quoi; comment; j'ai une question; d'accord et combien ça coûte; je ne comprends pas; demain",
	},
	"de": {
		"ja; ja ja; jaja; mhm; mm-hm; aha; ach so; achso; genau; okay; alles klar; verstehe; ich weiß; ich weiss; gut; stimmt; in Ordnung; ja genau okay; machen Sie weiter",
		"ähm; ahm; also; naja; ähm also",
		"stopp; Moment; Moment mal; einen Moment bitte; warten Sie; ja, warten Sie mal; Entschuldigung; halt stopp",
		"nein; ja aber; aber; was; wie bitte; ich habe eine Frage; okay und was kostet das; verstehe ich nicht; nicht gut; morgen",
	},
	"it": {
		"sì; si; sì sì; va bene; certo; ho capito; capisco; esatto; d'accordo; ok perfetto; mhm; vada avanti; ah ecco; sì sì va bene",
		"eh; cioè; allora; beh allora",
		"aspetti; un attimo; sì aspetti un attimo; basta; scusi; mi scusi; si fermi",
		"no; sì ma; ma; cosa; come; ho una domanda; va bene e quanto costa; non capisco; domani",
	},
	"pt": {
		"sim; sim sim; uhum; tá; tá bom; ta bom; está bem; claro; entendi; isso; isso mesmo; pois é; certo; perfeito; ahã; pode falar; sim claro ótimo",
		"então; tipo; hum; quer dizer",
		"espera; espere um momento; peraí; pera aí; um momento por favor; sim, só um minutinho; pare; desculpe; com licença",
		"não; sim mas; mas; o quê; como; tenho uma pergunta; tá bom e quanto custa; não entendi; amanhã",
	},
	"nl": {
		"ja; ja ja; jaja; oké; oke; okay; goed; prima; precies; klopt; dat klopt; ik begrijp het; mhm; ga door; ja hoor; oh ja; ja oké prima",
		"eh; uh; nou; dus; nou eh",
		"stop; wacht; wacht even; ja, wacht eens even; een ogenblik; momentje; sorry; ho even",
		"nee; ja maar; maar; wat; hoe; ik heb een vraag; oké en wat kost het; dat begrijp ik niet; niet goed; morgen",
	},
}

// TestClassify checks the kinds of texts in every language with a data file.
func TestClassify(t *testing.T) {
	t.Parallel()
	for language, test := range languages {
		for text, want := range map[string]overlap.Kind{
			test.backChannel: overlap.BackChannel, test.filler: overlap.Filler, test.stop: overlap.Stop, test.words: overlap.Words,
		} {
			for text := range strings.SplitSeq(text, "; ") {
				if got := overlap.Classify(language, text); got != want {
					t.Errorf("Classify(%q, %q) = %s, want %s", language, text, got, want)
				}
			}
		}
	}
	if files, err := filepath.Glob("words/*.txt"); err != nil || len(files) != len(languages) {
		t.Errorf("the table has %d languages, the folder %q (%v)", len(languages), files, err)
	}
}

// TestData checks that each line of a data file is in one section and is classified as that section's kind.
func TestData(t *testing.T) {
	t.Parallel()
	kinds := map[string]overlap.Kind{"[back-channel]": overlap.BackChannel, "[filler]": overlap.Filler, "[stop]": overlap.Stop}
	for language := range languages {
		data, err := os.ReadFile(filepath.Join("words", language+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		kind, lines := overlap.Nothing, map[string]bool{}
		for line := range strings.SplitSeq(string(data), "\n") {
			if section, ok := kinds[line]; ok {
				kind = section
				continue
			}
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if lines[line] || line != strings.TrimSpace(line) {
				t.Errorf("%s: the line %q is repeated or surrounded by blanks", language, line)
			}
			lines[line] = true
			forms := []string{line, strings.ToUpper(line), "“" + line + "!”"}
			if kind == overlap.BackChannel {
				forms = append(forms, line+" "+line)
			}
			for _, text := range forms {
				if got := overlap.Classify(language, text); got != kind {
					t.Errorf("Classify(%q, %q) = %s, want %s", language, text, got, kind)
				}
			}
		}
	}
}

// TestNothing checks texts without words.
func TestNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "...", "?!", "[noise]", "(coughs)", "[BLANK_AUDIO]", "<unk>", "*laughs* [noise]", "\xff"} {
		if got := overlap.Classify("en", text); got != overlap.Nothing {
			t.Errorf("Classify(%q) = %s", text, got)
		}
	}
	if got := overlap.Classify("en", "[noise] okay"); got != overlap.BackChannel {
		t.Errorf("an annotation and a back-channel are %s", got)
	}
}

// TestLanguages checks the names of languages. "ja" is a back-channel in German, and a word in English.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "DE", "de-AT", "de_CH", "deu", "ger", "babel-de", "babel-de-DE"} {
		if got := overlap.Classify(language, "genau"); got != overlap.BackChannel {
			t.Errorf("Classify(%q) = %s, want a back-channel", language, got)
		}
	}
	for _, language := range []string{"", "en", "ENG", "babel-en", "auto", "fluent", "babel", "ja", "xx", "not a language", strings.Repeat("x", 1000)} {
		if got := overlap.Classify(language, "I see"); got != overlap.BackChannel {
			t.Errorf("Classify(%q) = %s, want English", language, got)
		}
		if got := overlap.Classify(language, "genau"); got != overlap.Words {
			t.Errorf("Classify(%q) of a foreign word = %s, want words", language, got)
		}
	}
	for code, text := range map[string]string{"spa": "ya veo", "fra": "je vois", "ita": "capisco", "por": "entendi", "nld": "klopt", "pt-BR": "tá"} {
		if got := overlap.Classify(code, text); got != overlap.BackChannel {
			t.Errorf("Classify(%q, %q) = %s", code, text, got)
		}
	}
}

// TestClassifyAfter checks that a back-channel counts as words if the agent has just asked a question, and as a back-channel otherwise.
func TestClassifyAfter(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]overlap.Kind{
		"":                               overlap.BackChannel,
		"We are open every day.":         overlap.BackChannel,
		"Are you over 18?":               overlap.Words,
		"Are you over 18? ":              overlap.Words,
		"“Are you over 18?”":             overlap.Words,
		"Are you over 18? I ask because": overlap.Words,
		"Are you over 18? I ask because the law says":             overlap.BackChannel,
		"Are you over 18? Great. Then let us go on with the form": overlap.BackChannel,
		"¿Es usted mayor de edad?":                                overlap.Words,
	} {
		for _, text := range []string{"yes", "okay", "uh-huh"} {
			if got := overlap.ClassifyAfter("en", said, text); got != want {
				t.Errorf("ClassifyAfter(%q, %q) = %s, want %s", said, text, got, want)
			}
		}
		for text, kind := range map[string]overlap.Kind{"": overlap.Nothing, "um": overlap.Filler, "wait": overlap.Stop, "no": overlap.Words} {
			if got := overlap.ClassifyAfter("en", said, text); got != kind {
				t.Errorf("ClassifyAfter(%q, %q) = %s, want %s", said, text, got, kind)
			}
		}
	}
}

// TestAsksToStop checks which texts ask the agent to stop: other words may follow the request, but only fillers and acknowledgements may
// precede it.
func TestAsksToStop(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"wait": true, "Okay, wait!": true, "wait stop please I have a question": true, "um, hold on, what was that": true,
		"": false, "[noise]": false, "okay": false, "I will wait": false, "no wait": false, "what": false, "yes but stop": false,
	} {
		if got := overlap.AsksToStop("en", text); got != want {
			t.Errorf("AsksToStop(%q) = %v", text, got)
		}
	}
	if !overlap.AsksToStop("de", "ja, Moment mal, was kostet das") {
		t.Error("German is unknown")
	}
}

// TestLongText checks that the work of a classification is bounded.
func TestLongText(t *testing.T) {
	t.Parallel()
	if got := overlap.Classify("en", strings.Repeat("yeah ", 100_000)); got != overlap.Words {
		t.Errorf("a text of many words is %s", got)
	}
}
