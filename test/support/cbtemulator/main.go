// An emulator of Bigtable in one small program, for machines without Google's own: cloud.google.com/go/bigtable/bttest behind the
// flags and the first line of output of cbtemulator. It keeps everything in memory and must listen on loopback addresses only.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"cloud.google.com/go/bigtable/bttest"
	"google.golang.org/grpc"
)

// As cbtemulator: requests of the size the service takes.
const maxMessageBytes = 256 * 1024 * 1024

func main() {
	host := flag.String("host", "localhost", "the loopback address to listen on")
	port := flag.Int("port", 9000, "the port to listen on, 0 for a free one")
	flag.Parse()

	if ip := net.ParseIP(*host); *host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		log.Fatalf("%q is not a loopback address", *host)
	}
	address := net.JoinHostPort(*host, strconv.Itoa(*port))
	server, err := bttest.NewServer(address, grpc.MaxRecvMsgSize(maxMessageBytes), grpc.MaxSendMsgSize(maxMessageBytes))
	if err != nil {
		log.Fatalf("cannot listen on %s: %v", address, err)
	}
	fmt.Printf("Cloud Bigtable emulator running on %s\n", server.Addr)

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	server.Close()
}
