package chart_test

import (
	"fmt"
	"html/template"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

// graph makes a chart.Graph a picture.
type graph chart.Graph

func (g graph) SVG() template.HTML {
	svg, _ := chart.Graph(g).Draw()
	return svg
}

// views returns the views for zooming and panning that Draw returns.
func views(g chart.Graph) chart.Views {
	_, links := g.Draw()
	return links
}

// randomGraph returns a graph with n nodes, whose edges mostly lead to later nodes.
func randomGraph(random *rand.Rand, n, edges int) chart.Graph {
	g := chart.Graph{ID: "g", Title: "Random"}
	for i := range n {
		g.Nodes = append(g.Nodes, chart.Node{ID: strconv.Itoa(i), Label: fmt.Sprintf("Node number %d", i), Kind: "question"})
	}
	for range edges {
		from := random.IntN(n)
		to := min(n-1, from+1+random.IntN(1+n/8))
		if random.IntN(10) == 0 {
			to = random.IntN(n)
		}
		g.Edges = append(g.Edges, chart.Edge{From: strconv.Itoa(from), To: strconv.Itoa(to), Label: "goes on"})
	}
	return g
}

var (
	boxes = regexp.MustCompile(`<rect class="box[^"]*" x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"`)
	lines = regexp.MustCompile(`<path class="edge([^"]*)" d="M([-\d.]+) ([-\d.]+)[^"]*[ CL]([-\d.]+) ([-\d.]+)"`)
)

// numbers returns the submatches that are numbers.
func numbers(match []string) []float64 {
	var all []float64
	for _, text := range match[1:] {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// TestGraphLayout checks that the boxes of random graphs are within the whole view and do not overlap, and that lines lead downwards.
func TestGraphLayout(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		n := 1 + random.IntN(60)
		g := randomGraph(random, n, random.IntN(3*n))
		whole := views(g).Whole
		g.View = whole
		svg := string(graph(g).SVG())
		checkPicture(t, svg)
		found := boxes.FindAllStringSubmatch(svg, -1)
		if len(found) != n || strings.Count(svg, `class="edge`) != len(g.Edges) {
			t.Fatalf("%d boxes and %d edges of %d and %d", len(found), strings.Count(svg, `class="edge`), n, len(g.Edges))
		}
		for i, m := range found {
			a := numbers(m)
			if a[0] < whole.X || a[1] < whole.Y || a[0]+a[2] > whole.X+whole.W || a[1]+a[3] > whole.Y+whole.H {
				t.Errorf("the box %v is not within %v", a, whole)
			}
			for _, other := range found[:i] {
				if b := numbers(other); a[1] == b[1] && a[0] < b[0]+b[2] && b[0] < a[0]+a[2] {
					t.Errorf("the boxes %v and %v cover each other", a, b)
				}
			}
		}
		for _, m := range lines.FindAllStringSubmatch(svg, -1) {
			if a := numbers(m); a[1] >= a[3] {
				t.Errorf("the line %v does not lead downwards", a)
			}
		}
	}
}

// TestGraphShapes draws the most expensive graphs: a chain with edges across it, a star, a clique, and nodes without edges.
func TestGraphShapes(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func(i int) int{
		"chain":  func(i int) int { return min(i%400+1+i/400*200, 399) },
		"star":   func(int) int { return 0 },
		"clique": func(i int) int { return (i%28 + i/28) % 28 },
		"alone":  func(int) int { return -1 },
	} {
		g := chart.Graph{Title: name}
		for i := range 400 {
			g.Nodes = append(g.Nodes, chart.Node{ID: strconv.Itoa(i), Label: strings.Repeat("長い", 200), Href: "/"})
		}
		for i := range 800 {
			from := i % 400
			if name == "clique" {
				from = i % 28
			}
			g.Edges = append(g.Edges, chart.Edge{From: strconv.Itoa(from), To: strconv.Itoa(to(i)), Label: strings.Repeat("長い", 200)})
		}
		part := string(graph(g).SVG())
		checkPicture(t, part)
		g.View = views(g).Whole
		svg := string(graph(g).SVG())
		checkPicture(t, svg)
		if n := len(boxes.FindAllString(part, -1)); n >= 400 || n == 0 || !strings.Contains(part, "長い") {
			t.Errorf("a part of %s has %d boxes", name, n)
		}
		if n := len(boxes.FindAllString(svg, -1)); n != 400 {
			t.Errorf("%s has %d boxes", name, n)
		}
	}
}

// TestGraphViews checks the views for zooming and panning: zooming in shows less, and zooming out finishes at the whole graph.
func TestGraphViews(t *testing.T) {
	t.Parallel()
	g := randomGraph(rand.New(rand.NewPCG(3, 4)), 100, 150)
	whole := views(g).Whole
	texts := func() int { return strings.Count(string(graph(g).SVG()), "<text") }
	begin := texts()
	g.View = whole
	if n := texts(); n != 0 || begin == 0 {
		t.Errorf("the whole has %d texts, the beginning %d", n, begin)
	}
	for range 6 {
		g.View = views(g).In
	}
	near := views(g)
	if n := texts(); n == 0 || n > begin || near.Left.X >= g.View.X || near.Down.Y <= g.View.Y || near.In.W > g.View.W {
		t.Errorf("the views around %v of %v are %+v", g.View, whole, near)
	}
	for range 9 {
		g.View = views(g).Out
	}
	if g.View != whole {
		t.Errorf("zooming out ends at %v of %v", g.View, whole)
	}
}

func BenchmarkGraph(b *testing.B) {
	g := randomGraph(rand.New(rand.NewPCG(1, 2)), 400, 600)
	for name, view := range map[string]chart.ViewBox{"whole": views(g).Whole, "part": {}} {
		b.Run(name, func(b *testing.B) {
			g.View = view
			for b.Loop() {
				graph(g).SVG()
			}
		})
	}
}

func ExampleGraph_Draw() {
	g := chart.Graph{Nodes: []chart.Node{{ID: "start"}, {ID: "end"}}, Edges: []chart.Edge{{From: "start", To: "end"}}}
	_, links := g.Draw()
	fmt.Println(links.Whole)
	fmt.Println(links.In)
	// Output:
	// -154 -17 480 242
	// -74 23.3 320 161.3
}
