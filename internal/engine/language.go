package engine

import "strings"

// Language returns the ISO 639-1 code of a BCP 47 tag, which services of speech expect: "de" for "de-AT". It returns the tag's primary
// subtag if that has no such code, and "" for an empty tag.
func Language(tag string) string {
	primary, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-"), "-")
	if code, ok := twoLetters[primary]; ok {
		return code
	}
	return primary
}

// twoLetters contains the ISO 639-1 codes of macrolanguages, of languages with codes of three letters that are also in use, and of codes that
// ISO 639 has replaced.
var twoLetters = map[string]string{
	"arb": "ar", "cmn": "zh", "deu": "de", "eng": "en", "fil": "tl", "fra": "fr", "in": "id", "ita": "it", "iw": "he", "ji": "yi", "jpn": "ja",
	"kor": "ko", "nb": "no", "nld": "nl", "pol": "pl", "por": "pt", "rus": "ru", "spa": "es", "tur": "tr", "ukr": "uk", "zho": "zh",
}
