package pathway

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/callwright/callwright/agents/llm"
)

// maxPassages bounds the passages for one answer.
const maxPassages = 5

// passages returns passages that help to answer the caller's last words. If the lookup fails, it returns none, and the model says that it
// does not know the answer.
func (w *walk) passages(ctx context.Context) []string {
	question := ""
	for _, m := range slices.Backward(w.state.Talk.Messages) {
		if m.Role == llm.RoleCaller {
			question = m.Text
			break
		}
	}
	var found []string
	switch {
	case w.at.KnowledgeBase == "":
		found = best(w.at.Knowledge, question, maxPassages)
	case w.interpreter.Knowledge == nil:
		w.note(LogEntry{Kind: LogError, Text: "no knowledge bases are connected"})
		return nil
	default:
		var err error
		found, err = w.interpreter.Knowledge.Find(ctx, w.agent.Org, w.at.KnowledgeBase, question, maxPassages)
		if err != nil {
			w.note(LogEntry{Kind: LogError, Text: "the knowledge base failed"})
			w.interpreter.Logger.WarnContext(ctx, "knowledge base failed", "error", err)
			return nil
		}
	}
	w.note(LogEntry{Kind: LogKnowledge, Text: strconv.Itoa(len(found)) + " passages for: " + question})
	return found
}

// best returns at most the given number of paragraphs of a text that share words with a question, best first. The score of a shared word is
// 1 divided by the number of paragraphs that contain it, so that rare words decide. Words of one or two letters are ignored. Of longer
// words only the first four letters count, without a final s, so that "opening" matches "opened", and "fee" matches "fees".
func best(text, question string, most int) []string {
	type paragraph struct {
		text  string
		stems map[string]bool
		score float64
	}
	var all []paragraph
	for _, p := range paragraphs(text) {
		all = append(all, paragraph{text: p, stems: stems(p)})
	}
	asked := stems(question)
	in := map[string]int{} // number of paragraphs that contain each word of the question
	for _, p := range all {
		maps.DeleteFunc(p.stems, func(stem string, _ bool) bool { return !asked[stem] })
		for stem := range p.stems {
			in[stem]++
		}
	}
	for i, p := range all {
		for _, stem := range slices.Sorted(maps.Keys(p.stems)) { // in a fixed order, because sums of fractions depend on the order
			all[i].score += 1 / float64(in[stem])
		}
	}
	slices.SortStableFunc(all, func(a, b paragraph) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, p := range all[:min(len(all), most)] {
		if p.score > 0 {
			out = append(out, p.text)
		}
	}
	return out
}

// paragraphs splits a text at blank lines, and trims the white space around each line.
func paragraphs(text string) []string {
	var out []string
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			out = append(out, strings.Join(lines, "\n"))
		}
		lines = nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			flush()
			continue
		}
		lines = append(lines, line)
	}
	flush()
	return out
}

// stems returns the set of the stems of a text's words: see best.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		if letters := []rune(word); len(letters) > 2 {
			out[strings.TrimSuffix(string(letters[:min(len(letters), 4)]), "s")] = true
		}
	}
	return out
}
