// All that the query service uses of a package that otherwise imports every store.
package storage

import "github.com/jaegertracing/jaeger/internal/storage/v1/api/spanstore"

type ArchiveStorage struct {
	Reader spanstore.Reader
	Writer spanstore.Writer
}
