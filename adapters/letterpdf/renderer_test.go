package letterpdf_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/loa"
)

// oneLine returns a text as one line, with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestLetterReadsBack checks that pdftotext extracts the texts of a letter, so that readers can select and search them.
func TestLetterReadsBack(t *testing.T) {
	t.Parallel()
	text := letter(3)
	all := pages(t, render(t, text, nil))
	if len(all) != 1 {
		t.Fatalf("it has %d pages", len(all))
	}
	want := slices.Concat([]string{text.Title, "To be signed electronically", "Page 1 of 1", "Telephone numbers (3)"}, text.Numbers, text.Paragraphs)
	for _, fact := range text.Facts {
		want = append(want, fact.Name+" "+strings.Split(fact.Value, "\n")[0])
	}
	got := oneLine(all[0])
	for _, one := range want {
		if !strings.Contains(got, oneLine(one)) {
			t.Errorf("it does not say %q:\n%s", one, all[0])
		}
	}
}

// TestManyNumbers checks that a list of 130 numbers continues on a second page with its own head and page number, and that no number is
// lost.
func TestManyNumbers(t *testing.T) {
	t.Parallel()
	text := letter(130)
	all := pages(t, render(t, text, nil))
	if len(all) != 2 {
		t.Fatalf("it has %d pages", len(all))
	}
	var found []string
	for i, one := range all {
		for word := range strings.FieldsSeq(one) {
			if strings.HasPrefix(word, "+1415555") {
				found = append(found, word)
			}
		}
		if foot := []string{"Page 1 of 2", "Page 2 of 2"}[i]; !strings.Contains(one, foot) || !strings.Contains(one, text.Title) {
			t.Errorf("page %d has no head or foot:\n%s", i+1, one)
		}
	}
	if !slices.Equal(found, text.Numbers) {
		t.Errorf("the numbers are %q", found)
	}
	if !strings.Contains(all[1], "Telephone numbers, continued") {
		t.Errorf("the second page does not say what its numbers are:\n%s", all[1])
	}
}

// TestSigned checks that a signature changes only the signature block of the letter, and adds a certificate page.
func TestSigned(t *testing.T) {
	t.Parallel()
	c := certificate()
	for _, numbers := range []int{1, 3, 17, 60, 100} {
		before, after := pages(t, render(t, letter(numbers), nil)), pages(t, render(t, letter(numbers), &c))
		if len(after) != len(before)+1 {
			t.Fatalf("%d numbers: %d pages became %d", numbers, len(before), len(after))
		}
		last := len(before) - 1
		if !slices.Equal(before[:last], after[:last]) {
			t.Errorf("%d numbers: the signature has changed a page that it is not on", numbers)
		}
		head, _, _ := strings.Cut(before[last], "To be signed electronically")
		signed, block, found := strings.Cut(after[last], "Signed electronically")
		if !found || head != signed {
			t.Errorf("%d numbers: the page was\n%s\nand is\n%s", numbers, head, signed)
		}
		for _, want := range []string{c.Name, c.Title, "3 March 2026, 08:04:05 UTC"} {
			if !strings.Contains(block, want) {
				t.Errorf("the signature does not say %q:\n%s", want, block)
			}
		}
	}
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	c := certificate()
	all := pages(t, render(t, letter(1), &c))
	got := oneLine(all[len(all)-1])
	for _, want := range []string{
		c.Letter, c.Trail, "Signed by " + c.Name, "Title " + c.Title, c.Email, "3 March 2026, 08:04:05 UTC", c.Origin.IP, c.Disclosure,
		"(KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 ??",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	c.Title, c.Origin.UserAgent = "", ""
	got = oneLine(pages(t, render(t, letter(1), &c))[1])
	if strings.Contains(got, "Browser") || strings.Contains(got, "Title ") {
		t.Errorf("it has names without values:\n%s", got)
	}
}

// TestPagesAreNotBlank checks that between 0.5% and 30% of each page is dark.
func TestPagesAreNotBlank(t *testing.T) {
	t.Parallel()
	c := certificate()
	_, folder := poppler(t, render(t, letter(100), &c), "pdftoppm", "-png", "-gray", "-r", "60", "in.pdf", "page")
	names, err := filepath.Glob(filepath.Join(folder, "page*.png"))
	if err != nil || len(names) != 3 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if share := ink(page); share < 0.005 || share > 0.3 {
			t.Errorf("%s: %.2f %% is ink", filepath.Base(name), 100*share)
		}
	}
}

// ink returns the share of dark pixels in an image, from 0 to 1.
func ink(i image.Image) float64 {
	dark, b := 0, i.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, _, _, _ := i.At(x, y).RGBA(); r < 0x8000 {
				dark++
			}
		}
	}
	return float64(dark) / float64(b.Dx()*b.Dy())
}

// TestFileSays checks the metadata that viewers and screen readers use: title, language, bookmarks and embedded fonts.
func TestFileSays(t *testing.T) {
	t.Parallel()
	c := certificate()
	pdf := render(t, letter(1), &c)
	info, _ := poppler(t, pdf, "pdfinfo", "in.pdf")
	for _, want := range []string{"Title:           " + letter(1).Title + "\n", "612 x 792 pts", "Encrypted:       no"} {
		if !strings.Contains(info, want) {
			t.Errorf("it does not say %q:\n%s", want, info)
		}
	}
	if strings.Contains(info, "Author") || !bytes.Contains(pdf, []byte("/Lang (en)")) || !bytes.Contains(pdf, []byte("/Outlines")) {
		t.Errorf("it names an author, or no language, or has no bookmarks:\n%s", info)
	}
	fonts, _ := poppler(t, pdf, "pdffonts", "in.pdf")
	if strings.Count(fonts, "\n") != 4 || strings.Count(fonts, "Identity-H") != 2 || strings.Count(fonts, " yes no  yes ") != 2 {
		t.Errorf("the fonts are\n%s", fonts)
	}
}

// TestLongTexts checks that long words and texts of many lines stay within the margins, and that no part of them is lost.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	text := letter(2)
	many := strings.Repeat("слово ", 3000)
	text.Title = strings.Repeat("Title ", 40)
	text.Facts = append(text.Facts, loa.Fact{Name: strings.Repeat("щ", 60), Value: strings.Repeat("ж", 4000)}, loa.Fact{Name: "Empty"})
	text.Paragraphs = append(text.Paragraphs, many)
	text.Numbers = append(text.Numbers, strings.Repeat("9", 300))
	c := certificate()
	c.Name = strings.Repeat("Žofie ", 50)
	c.Disclosure = many
	all := pages(t, render(t, text, &c))
	joined := strings.Join(all, "")
	for piece, want := range map[string]int{"ж": 4000, "щ": 60, "слово": 6000} {
		if got := strings.Count(joined, piece); got < want {
			t.Errorf("%d of %d %q are there", got, want, piece)
		}
	}
	if box, _ := poppler(t, render(t, text, &c), "pdftotext", "-bbox", "in.pdf", "-"); strings.Contains(box, `xMin="-`) || !inside(t, box) {
		t.Error("something is beside the page")
	}
}

// inside reports whether the output of pdftotext -bbox contains more than 6000 words, all within the margins of their pages.
func inside(t *testing.T, box string) bool {
	t.Helper()
	words := 0
	for row := range strings.SplitSeq(box, "\n") {
		var x1, y1, x2, y2 float64
		if n, _ := fmt.Sscanf(strings.TrimSpace(row), `<word xMin="%f" yMin="%f" xMax="%f" yMax="%f"`, &x1, &y1, &x2, &y2); n != 4 {
			continue
		}
		words++
		if x1 < 63 || x2 > 549 || y1 < 30 || y2 > 765 {
			t.Log(row)
			return false
		}
	}
	return words > 6000
}

// TestCharacters checks that names in Latin, Greek and Cyrillic scripts are shown, and that a loa.CharacterError names any other character.
func TestCharacters(t *testing.T) {
	t.Parallel()
	r := newRenderer(t)
	for _, name := range []string{"Nguyễn Thị Hạnh", "Ștefan Țepeș", "Þórður Guðmundsdóttir", "Αλέξανδρος", "Ольга Їжакевич", "O’Neil – “Bob”", "Māori ʻokina"} {
		text := letter(1)
		text.Facts[3].Value = name
		if got := pages(t, render(t, text, nil))[0]; !strings.Contains(got, name) {
			t.Errorf("%s is not there:\n%s", name, got)
		}
	}
	text := letter(1)
	text.Facts[3].Value = "Jose\u0301" // e and a combining accent
	if got := pages(t, render(t, text, nil))[0]; !strings.Contains(got, "José") {
		t.Errorf("the composed name is not there:\n%s", got)
	}
	for bad, where := range map[string]func(*loa.Text){
		"王 Wang":    func(x *loa.Text) { x.Facts[3].Value = "王 Wang" },
		"שלום":      func(x *loa.Text) { x.Title = "שלום" },
		"محمد":      func(x *loa.Text) { x.Facts[0].Name = "محمد" },
		"😀":         func(x *loa.Text) { x.Paragraphs[0] = "😀" },
		"a\x00":     func(x *loa.Text) { x.Numbers[0] = "a\x00" },
		"\xff":      func(x *loa.Text) { x.Paragraphs[1] = "\xff" },
		"a\u202eb ": func(x *loa.Text) { x.Paragraphs[1] = "a\u202eb " }, // U+202E reverses the writing direction
	} {
		text := letter(1)
		where(&text)
		_, err := r.RenderLetter(t.Context(), text)
		e, ok := errors.AsType[*loa.CharacterError](err)
		if !ok || e.Text != bad || !strings.ContainsRune(bad, e.Char) || !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	c := certificate()
	c.Title = "社長"
	if _, err := r.RenderSigned(t.Context(), letter(1), c); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("a title of the signer: got %v", err)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newRenderer(t).RenderLetter(ctx, letter(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := newRenderer(t).RenderSigned(ctx, letter(1), certificate()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// golden is the result of hash on every machine. It changes if the layout of letters, fpdf or a font changes, or if a version of Go
// compresses differently.
const golden = "f21d8b72404ad7ddf56e4151d13d93d1538673a2148ef5aed8717925584b812c"

// hash returns the SHA-256, in hexadecimal, of the PDF of a letter followed by the PDF of the same letter signed.
func hash(t *testing.T) string {
	t.Helper()
	c := certificate()
	sum := sha256.Sum256(append(render(t, letter(100), nil), render(t, letter(100), &c)...))
	return hex.EncodeToString(sum[:])
}

// TestSameBytes checks that the bytes do not change between calls, in concurrent calls, or in another process with another time zone and
// language.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	if os.Getenv("LETTERPDF_HASH") != "" {
		_, _ = os.Stdout.WriteString("hash " + hash(t) + "\n")
		return
	}
	if got := hash(t); got != golden {
		t.Errorf("the hash is %s, want %s", got, golden)
	}
	r := newRenderer(t)
	var all [4][]byte
	var drawing sync.WaitGroup
	for i := range all {
		drawing.Go(func() { all[i], _ = r.RenderLetter(t.Context(), letter(5)) })
	}
	drawing.Wait()
	for _, one := range all {
		if len(one) == 0 || !bytes.Equal(one, all[0]) {
			t.Error("concurrent calls give different bytes")
		}
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSameBytes$", "-test.v")
	again.Env = append(os.Environ(), "LETTERPDF_HASH=1", "TZ=Pacific/Auckland", "LANG=de_DE.UTF-8")
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "hash "+golden+"\n") {
		t.Errorf("another process: %v\n%s", err, out)
	}
}
