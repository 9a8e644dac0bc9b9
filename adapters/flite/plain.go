package flite

import "strings"

// spellings replaces letters and punctuation beyond ASCII with ASCII text, because flite reads bytes and would misread them.
var spellings = strings.NewReplacer(
	"à", "a", "á", "a", "â", "a", "ã", "a", "ä", "a", "å", "a", "æ", "ae", "ç", "c", "è", "e", "é", "e", "ê", "e",
	"ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ö", "o",
	"ø", "o", "œ", "oe", "ß", "ss", "ù", "u", "ú", "u", "û", "u", "ü", "u", "ý", "y", "ÿ", "y", "š", "s", "ž", "z",
	"č", "c", "ł", "l", "ń", "n", "ś", "s", "ź", "z", "ż", "z", "ą", "a", "ę", "e", "ć", "c", "ř", "r", "ě", "e",
	"À", "A", "Á", "A", "Â", "A", "Ã", "A", "Ä", "A", "Å", "A", "Æ", "Ae", "Ç", "C", "È", "E", "É", "E", "Ê", "E",
	"Ë", "E", "Ì", "I", "Í", "I", "Î", "I", "Ï", "I", "Ñ", "N", "Ò", "O", "Ó", "O", "Ô", "O", "Õ", "O", "Ö", "O",
	"Ø", "O", "Œ", "Oe", "Ù", "U", "Ú", "U", "Û", "U", "Ü", "U", "Ý", "Y", "Š", "S", "Ž", "Z", "Č", "C", "Ł", "L",
	"‘", "'", "’", "'", "‚", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"–", "-", "—", ", ", "…", "...", "€", " euros ", "£", " pounds ", "°", " degrees ", "×", " times ",
)

// spelled returns the printable ASCII text that replaces a character: the spelling of a known letter or punctuation, and a space for an
// unknown character.
func spelled(r rune) string {
	if r >= ' ' && r <= '~' {
		return string(r)
	}
	if s := spellings.Replace(string(r)); s != string(r) {
		return s
	}
	return " "
}

// plain converts text to printable ASCII.
func plain(text string) string {
	var out strings.Builder
	for _, r := range text {
		out.WriteString(spelled(r))
	}
	return strings.TrimSpace(out.String())
}
