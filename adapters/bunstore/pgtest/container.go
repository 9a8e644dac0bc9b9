package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/callwright/callwright/internal/guard"
)

// image is the name of the image that scripts/postgres-image.sh builds. It cannot be pulled, because no registry contains it.
const image = "callwright-postgres:test"

// envHost is the environment variable that contains the address of published ports for testcontainers.
const envHost = "TESTCONTAINERS_HOST_OVERRIDE"

// dockerReady returns nil if a Docker daemon responds and has the image. Otherwise the error states the missing prerequisite.
func dockerReady(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("the docker command is not installed")
	}
	if err := configure(); err != nil {
		return err
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return fmt.Errorf("no Docker daemon answers (%w)", err)
	}
	defer provider.Close()
	images, err := provider.ListImages(ctx)
	if err != nil {
		return fmt.Errorf("no Docker daemon answers (%w)", err)
	}
	if !slices.ContainsFunc(images, func(i testcontainers.ImageInfo) bool { return i.Name == image }) {
		return fmt.Errorf("the Docker daemon has no image %s", image)
	}
	return nil
}

// configure silences testcontainers and sets its environment variables. It must run before any other call of testcontainers.
func configure() error {
	log.SetDefault(silent{})
	// The reaper of testcontainers would require an image from a registry. Package guard replaces it.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		return err
	}
	// Inside a container, or a similar virtual machine, the library uses the default gateway as the address of published ports. With a
	// daemon on this machine, the address is the loopback interface. Tests that run in a container next to the daemon's other containers
	// set the variable themselves.
	_, given := os.LookupEnv(envHost)
	if given || strings.HasPrefix(os.Getenv("DOCKER_HOST"), "tcp:") {
		return nil
	}
	return os.Setenv(envHost, "127.0.0.1")
}

// startContainer starts a container of the image and returns the DSN of its superuser. A guard deletes the container after this process.
func startContainer(ctx context.Context) (string, error) {
	name, password := "callwright-pgtest-"+randomHex(6), randomHex(16)
	if _, err := guard.Start(nil, `docker rm --force --volumes "$1"`, name); err != nil {
		return "", err
	}
	// Wait for a log line, not for an open port, because Docker's proxy accepts connections before the server does. The image writes this
	// line only once.
	ready := wait.ForLog("database system is ready to accept connections").WithPollInterval(50 * time.Millisecond)
	options := []testcontainers.ContainerCustomizer{
		postgres.WithPassword(password),
		testcontainers.WithName(name),
		testcontainers.WithCmdArgs(fastSettings()...),
		testcontainers.WithWaitStrategy(ready),
	}
	if !benchmarks() {
		options = append(options, inMemory()...)
	}
	container, err := postgres.Run(ctx, image, options...)
	if err != nil {
		return "", err
	}
	return container.ConnectionString(ctx, "sslmode=disable")
}

// inMemory returns options that store a container's files in memory, where databases are created several times faster.
func inMemory() []testcontainers.ContainerCustomizer {
	const folder = "/memory"
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithTmpfs(map[string]string{folder: "rw,mode=1777"}), // world-writable, because the server does not run as root
		testcontainers.WithEnv(map[string]string{"PGDATA": folder + "/data"}),
		testcontainers.WithCmdArgs("-c", "max_wal_size=128MB"),
	}
}

// benchmarks reports whether this process runs benchmarks. Their databases are large, and should be on disk, as in production.
func benchmarks() bool {
	f := flag.Lookup("test.bench")
	return f != nil && f.Value.String() != ""
}

// silent is a logger that discards the messages of testcontainers.
type silent struct{}

// Printf discards the message.
func (silent) Printf(string, ...any) {}
