package arch_test

import (
	"os"
	"testing"

	"github.com/callwright/callwright/internal/arch"
)

// TestRepository checks that this repository breaks no rule.
func TestRepository(t *testing.T) {
	t.Parallel()
	report, err := arch.Check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	if report.Packages < 2 || report.Exported == 0 {
		t.Errorf("the check saw %d packages and %d exported names: is it looking at the repository?",
			report.Packages, report.Exported)
		return
	}
	t.Logf("%d packages; %d of %d exported names documented (%.1f %%)", report.Packages, report.Documented,
		report.Exported, 100*float64(report.Documented)/float64(report.Exported))
}
