// Command licenses writes a table of the modules that programs link, with the SPDX identifiers of each module's licenses.
//
//	licenses MODULE FILE PACKAGE...   the packages are those of the programs, in the folder of their module
//
// It reads the license files in the module cache. Packages of this repository with a license file of their own are listed like modules,
// because they contain data of others. The table contains no versions, so that an update changes it only if a license changes.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: licenses MODULE FILE PACKAGE [PACKAGE...], with the packages as the module has them")
	}
	folders, err := linked(args[0], args[2:])
	if err != nil {
		return err
	}
	var table bytes.Buffer
	for _, module := range slices.Sorted(maps.Keys(folders)) {
		ids, err := licencesOf(folders[module])
		if err != nil {
			return fmt.Errorf("%s: %w", module, err)
		}
		fmt.Fprintln(&table, module, strings.Join(ids, " AND "))
	}
	return os.WriteFile(args[1], table.Bytes(), 0o644) //nolint:gosec // a file of the repository
}

// own is the root module. Its license applies to all modules below it.
const own = "github.com/callwright/callwright"

// systems lists the operating systems for which programs are built, because each may link other modules.
var systems = []string{"darwin", "linux", "windows"}

// linkedFormat prints the path and folder of a package's module, and the path and folder of the package.
const linkedFormat = "{{with .Module}}{{.Path}}\t{{.Dir}}\t{{$.ImportPath}}\t{{$.Dir}}{{end}}"

// linked returns the folders of the modules that packages of a module link, by module path. The standard library has the path "std". The
// map also contains the linked packages of this repository that have a license file.
func linked(module string, packages []string) (map[string]string, error) {
	folders := map[string]string{}
	for _, system := range systems {
		args := append([]string{"list", "-deps", "-f", linkedFormat}, packages...)
		out, err := goOf(module, "GOOS="+system, args...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			names := strings.Split(strings.TrimSpace(line), "\t")
			if len(names) != 4 {
				continue // a package of the standard library
			}
			if !strings.HasPrefix(names[0], own+"/") {
				folders[names[0]] = names[1]
			}
			if strings.HasPrefix(names[2], own+"/") && licensed(names[3]) {
				folders[names[2]] = names[3]
			}
		}
	}
	root, err := goOf(module, "GOOS=", "env", "GOROOT")
	folders["std"] = strings.TrimSpace(root)
	return folders, err
}

// licensed reports whether a folder contains a license file.
func licensed(folder string) bool {
	entries, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() && ownLicence.MatchString(e.Name()) })
}

func goOf(folder, variable string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...) //nolint:gosec // the arguments are those of go:generate
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOFLAGS=-mod=readonly", "GOWORK=", variable)
	out, err := cmd.Output()
	return string(out), err
}

// licenceFile matches the names of license files, and ownLicence the names of files that contain only the module's own license.
var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)
	ownLicence  = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying)(\.(md|txt))?$`)
)

// leastKnown is the percentage of the text in a file of ownLicence that must match known licenses.
const leastKnown = 75

// licencesOf returns the sorted SPDX identifiers of the licenses in a folder. It returns an error if there are none, or if a license file
// contains too much unknown text, which a person must read.
func licencesOf(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name())) //nolint:gosec // of the module cache
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < leastKnown && ownLicence.MatchString(e.Name()) {
			return nil, fmt.Errorf("%s is no licence that is known (%.0f %% of its text is)", e.Name(), found.Percent)
		}
		for _, m := range found.Match {
			if !m.IsURL {
				ids[m.ID] = true
			}
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("there is no licence")
	}
	return slices.Sorted(maps.Keys(ids)), nil
}
