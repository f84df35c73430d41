// A server of Kafka's protocol that keeps its data in memory: kafka PORT.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	cluster, err := kfake.NewCluster(kfake.Ports(port), kfake.NumBrokers(1), kfake.DefaultNumPartitions(1))
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	cluster.Close()
}
