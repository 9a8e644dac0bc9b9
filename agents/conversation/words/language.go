package words

import (
	"io/fs"
	"path"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// fallback is the language whose file applies to languages without a file.
const fallback = "en"

// Language returns the base language of a tag, such as "pt" for "pt-BR". tag is a BCP 47 tag, or a language code of the API such as "ENG" or
// "babel-en". Language returns an empty string for an empty or malformed tag.
func Language(tag string) string {
	tag = strings.TrimPrefix(strings.ToLower(tag), "babel-")
	t, err := language.Parse(tag)
	if err != nil || tag == "" {
		return ""
	}
	base, _ := t.Base()
	return base.String()
}

// ByLanguage returns a function that returns the parsed data file of a language: words/LANGUAGE.txt in files, which are embedded and parsed
// once, at the first call. The file of English applies to languages without a file and to malformed tags. The function usually allocates no
// memory for a tag of an earlier call. See Language for the form of tags.
//
// The function panics at its first call if there is no file of English.
func ByLanguage[T any](files fs.FS, parse func(text string) T) func(tag string) T {
	sets := sync.OnceValue(func() map[string]T { return parseAll(files, parse) })
	var mu sync.RWMutex
	tags := map[string]T{}
	return func(tag string) T {
		mu.RLock()
		set, ok := tags[tag]
		mu.RUnlock()
		if ok {
			return set
		}
		set, ok = sets()[Language(tag)]
		if !ok {
			set = sets()[fallback]
		}
		mu.Lock()
		defer mu.Unlock()
		if len(tags) == maxTags {
			clear(tags)
		}
		tags[tag] = set
		return set
	}
}

// maxTags bounds the number of tags that a function of ByLanguage caches, because tags come from users.
const maxTags = 1000

// parseAll parses all data files.
func parseAll[T any](files fs.FS, parse func(text string) T) map[string]T {
	names, err := fs.Glob(files, "words/*.txt")
	if err != nil {
		panic(err) // impossible: the pattern is valid
	}
	out := make(map[string]T, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err) // impossible: the files are embedded
		}
		out[strings.TrimSuffix(path.Base(name), ".txt")] = parse(string(text))
	}
	if _, ok := out[fallback]; !ok {
		panic("words: there is no words/" + fallback + ".txt")
	}
	return out
}
