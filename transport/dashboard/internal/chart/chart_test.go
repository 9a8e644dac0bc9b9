package chart_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

var update = flag.Bool("update", false, "write the golden files anew")

// start is the time at which most pictures of the tests begin.
var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// picture is implemented by all pictures of the package except chart.Graph, which the type graph adapts.
type picture interface{ SVG() template.HTML }

// points returns a point for each value, 30 minutes apart.
func points(values ...float64) []chart.Point {
	var all []chart.Point
	for i, v := range values {
		all = append(all, chart.Point{At: start.Add(time.Duration(i) * 30 * time.Minute), Value: v})
	}
	return all
}

// TestGolden compares each picture with a file that was checked by eye. The flag -update writes the files.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, p := range pictures() {
		got, file := string(p.SVG()), "testdata/"+name+".svg"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s is not as in %s (%v):\n%s", name, file, err, got)
		}
		checkPicture(t, got)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	texts := []string{"", `<script>alert("1")</script>`, "a\x00\xff\u202e]]>&amp;'", strings.Repeat("長い", 10_000), "javascript:alert(1)"}
	numbers := []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-12}
	for _, text := range texts {
		for _, v := range numbers {
			for _, n := range []int{0, 1, 3, 500} {
				for _, p := range hostile(text, v, n) {
					got := string(p.SVG())
					checkPicture(t, got)
					if again := string(p.SVG()); again != got {
						t.Errorf("%T differs when it is drawn again", p)
					}
				}
			}
		}
	}
}

func FuzzPictures(f *testing.F) {
	f.Add("name", 1.5, 7)
	f.Add("<script>", math.Inf(1), 300)
	f.Fuzz(func(t *testing.T, text string, v float64, n int) {
		for _, p := range hostile(text, v, max(0, n%400)) {
			checkPicture(t, string(p.SVG()))
		}
	})
}

// banned matches elements, attributes, numbers and URLs that a picture must not contain. inText matches the text between elements.
var (
	banned = regexp.MustCompile(`(?i)<script|NaN|Inf\b|style=|\bon[a-z]+=|href="(javascript|data):`)
	inText = regexp.MustCompile(`>[^<]*<`)
)

// checkPicture checks that a picture is well-formed XML with a title, a description and unique ids, and without inline styles and scripts.
func checkPicture(t *testing.T, svg string) {
	t.Helper()
	if found := banned.FindString(inText.ReplaceAllString(svg, "><")); found != "" || strings.Contains(strings.ToLower(svg), "<script") {
		t.Errorf("a picture has %q:\n%.3000s", found, svg)
	}
	ids, names := map[string]bool{}, map[string]int{}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in:\n%.3000s", err, svg)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		names[element.Name.Local]++
		for _, a := range element.Attr {
			if a.Name.Local == "id" {
				if ids[a.Value] {
					t.Errorf("the id %q is there twice", a.Value)
				}
				ids[a.Value] = true
			}
		}
	}
	if names["svg"] != 1 || names["title"] < 1 || names["desc"] != 1 || len(svg) > 2<<20 {
		t.Errorf("a picture of %d bytes has the elements %v", len(svg), names)
	}
	if names["a"] > 0 == strings.Contains(svg, `role="img"`) {
		t.Errorf("a picture with %d links has a wrong role:\n%.300s", names["a"], svg)
	}
}

func TestCSSNamesOnlyTheVariables(t *testing.T) {
	t.Parallel()
	known := regexp.MustCompile(`^var\(--(c|fg|muted|line|c[1-6]|good|warn|bad|bg)\)$`)
	for _, used := range regexp.MustCompile(`var\([^)]*\)`).FindAllString(chart.CSS, -1) {
		if !known.MatchString(used) {
			t.Errorf("the style sheet uses %s", used)
		}
	}
}

func TestParseViewBox(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0 0 480 200": true, "-10.5 3 1 1": true, "": false, "1 2 3": false, "0 0 0 10": false, "0 0 NaN 10": false,
		"0 0 Inf 10": false, "1e99 0 10 10": false, "0 0 10 -1": false, "a b c d": false,
	} {
		v, ok := chart.ParseViewBox(text)
		if ok != want {
			t.Errorf("%q gave %v, %t", text, v, ok)
		}
		if ok && v.String() != text {
			t.Errorf("%q became %q", text, v)
		}
	}
}

func Example() {
	svg := chart.Sparkline{ID: "answered", Title: "Calls answered", Values: []float64{3, 5, 4, 8}}.SVG()
	fmt.Println(strings.Contains(string(svg), "From 3 to 8, last 8."))
	// Output: true
}

func BenchmarkWaveform(b *testing.B) {
	w := waveform(100_000)
	for b.Loop() {
		w.SVG()
	}
}

// TestDescriptions checks the texts of descriptions: singular forms, durations, steps of one participant, and the numbers of omitted
// elements.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	stages := []chart.Stage{{ID: "a"}, {ID: "b"}, {ID: "a"}, {ID: "b"}}
	nodes := []chart.Node{{ID: "a"}, {ID: "a"}}
	for want, p := range map[string]picture{
		"1 cell of 1 day, from 2026-03-02 08:00 UTC.\n":       chart.Strip{Start: start, Step: 24 * time.Hour, Cells: cells(chart.Good, 1)},
		"2 cells of 30 minutes, from 2026-03-02 08:00 UTC.\n": chart.Strip{Start: start, Step: 30 * time.Minute, Cells: cells(chart.Good, 2)},
		"2 bars of 36 hours, from":                            chart.Bars{Start: start, Step: 36 * time.Hour, Series: []chart.BarSeries{{Values: []float64{1, 2}}}},
		"1 message between 2 participants.\n0.000 s, us: resolved.": chart.Ladder{
			Participants: []string{"us", "them"}, Messages: []chart.Message{{Label: "resolved"}},
		},
		"1 message between 2 participants.\n0.000 s, us to them: INVITE.</desc>": chart.Ladder{
			Participants: []string{"us", "them"}, Messages: []chart.Message{{To: 1, Label: "INVITE"}},
		},
		"1 message between 1 participant.\n0.000 s, us: sends.\nNot drawn: 1 of 2 messages.": chart.Ladder{
			Participants: []string{"us"}, Messages: []chart.Message{{Label: "sends"}, {To: 3}},
		},
		"2 stages and 1 flow.\na to b: 3.</desc>":                    chart.Sankey{Stages: stages, Flows: []chart.Flow{{From: "a", To: "b", Weight: 3}}},
		"1 node in 1 layer and 0 edges, 0 backwards.\na.</desc>":     graph{Nodes: nodes},
		"1 event.\n2026-03-02 08:00:00 UTC: answered (good).</desc>": chart.Timeline{Events: []chart.Event{{At: start, Label: "answered", State: chart.Good}}},
		"Caller: 1 peak.\nMarked: 0 lines of the transcript.</desc>": chart.Waveform{Duration: 1, Channels: []chart.Channel{{Name: "Caller", Peaks: []float64{1}}}},
		"Not drawn: 1 of 7 lines.</desc>":                            chart.Lines{Series: slices.Repeat([]chart.Series{{Points: points(1)}}, 7)},
	} {
		if svg := string(p.SVG()); !strings.Contains(svg, want) {
			t.Errorf("%q is missing:\n%s", want, svg)
		}
	}
}

// BenchmarkLanes draws the 100 lines of a page of a call.
func BenchmarkLanes(b *testing.B) {
	l := lanes()
	l.Row = time.Minute
	for i := range 92 {
		u := l.Utterances[i%8]
		u.Start, u.End = u.Start+time.Duration(i)*6*time.Second, u.End+time.Duration(i)*6*time.Second
		l.Utterances = append(l.Utterances, u)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.SVG()
	}
}
