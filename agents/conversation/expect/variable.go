package expect

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/callwright/callwright/agents/conversation/words"
)

// forms lists words, in several languages, that name values of a form. The first line with a word of a text decides. The words are folded:
// see words.Fold.
//
//nolint:dupword,misspell // several languages
var forms = []struct {
	kind  Kind
	words string
}{
	{Email, "email|e mail|mail address|correo electronico|courriel|adresse mail|e mail adresse|posta elettronica|indirizzo mail"},
	{Spelling, "spell|spells|spelled|spelling|deletrear|epeler|buchstabieren|buchstabiere|sillabare|soletrar|spellen"},
	{Digits, "phone|telephone|mobile number|cell number|telefono|telefon|telefonnummer|handynummer|telefone|telefoonnummer|" +
		"zip|zip code|zipcode|postal code|codigo postal|code postal|postleitzahl|plz|codice postale|" +
		"pin|pin code|passcode|ssn|social security number|digit|digits|ziffern|stellig|digitos|chiffres|cifre|cijfers|" +
		"account number|card number|member number|customer number|order number|invoice number|ticket number|case number|number of the account|" +
		"numero de cuenta|numero de tarjeta|numero de compte|kontonummer|kundennummer|kartennummer|rechnungsnummer|numero di conto|" +
		"numero da conta|rekeningnummer|klantnummer|routing number|tracking number|extension number"},
	{Address, "postal address|street|home address|mailing address|delivery address|direccion|adresse postale|anschrift|indirizzo|endereco|adres"},
	{Date, "date|birthday|dob|date of birth|day of the appointment|appointment day|appointment time|fecha|date de naissance|datum|geburtsdatum|" +
		"data di nascita|data de nascimento|geboortedatum|which day|what day|what time"},
}

// length matches the number of digits that a text names, such as "4 to 6 digits" or "a 10-digit number", after folding and inNumerals.
var length = regexp.MustCompile(`\b(\d{1,2})(?: (?:to|or|bis|oder|a|o|ou|tot|of) (\d{1,2})| (\d{1,2}))? ?(?:digits?|stellig\w*|ziffern?|digitos?|chiffres?|cifre|cifra|cijfers?)\b`)

// maxLength is the maximum number of digits that a text may name.
const maxLength = 40

// OfVariable returns the form of the answer from which a variable is extracted, by its name, such as "phoneNumber", and its description,
// such as "the 10 digits of the account". A boolean variable expects YesNo. OfVariable returns Free if nothing names a form.
func OfVariable(name string, boolean bool, description string) Answer {
	if boolean {
		return Answer{Kind: YesNo}
	}
	text := " " + strings.Join(words.Fold(apart(name)+" "+description), " ") + " "
	for _, form := range forms {
		for word := range strings.SplitSeq(form.words, "|") {
			if !strings.Contains(text, " "+word+" ") {
				continue
			}
			a := Answer{Kind: form.kind}
			if form.kind == Digits {
				a.Min, a.Max = digitsNamed(text)
			}
			return a
		}
	}
	if least, most := digitsNamed(text); most > 0 {
		return Answer{Kind: Digits, Min: least, Max: most}
	}
	return Answer{}
}

// digitsNamed returns the least and the greatest number of digits that a folded text names, or 0 if it names none.
func digitsNamed(text string) (least, most int) {
	found := length.FindStringSubmatch(inNumerals(text))
	if found == nil {
		return 0, 0
	}
	least, _ = strconv.Atoi(found[1])
	most, _ = strconv.Atoi(found[2] + found[3])
	most = max(most, least)
	if least == 0 || most > maxLength {
		return 0, 0
	}
	return least, most
}

// numerals maps the words for the numbers up to maxLength in the languages of forms to numerals. Phrases of several words are missing.
var numerals = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, language := range []string{"nl", "pt", "it", "fr", "es", "de", "en"} {
		for word, m := range numbersOf(language).phrases {
			if m.kind == number && m.value > 0 && m.value <= maxLength {
				all[word] = strconv.Itoa(m.value)
			}
		}
	}
	return all
})

// inNumerals replaces the number words in a folded text by numerals.
func inNumerals(text string) string {
	tokens := strings.Fields(text)
	for i, token := range tokens {
		tokens[i] = cmp.Or(numerals()[token], token)
	}
	return strings.Join(tokens, " ")
}

// apart returns a name with blanks between its words, which may be in camel case.
func apart(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}
