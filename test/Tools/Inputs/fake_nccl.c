// Collectives of NCCL that move nothing: all members of a communicator must call the same ones, with the same counts.
// Each is a line in the file $FAKE_NOTES.RANK, an all_reduce with the numbers of its stream and of the one that this
// was ordered behind (fake_driver.c), each group anew, and whether the first stream waits for all sums before it.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char bytes[128];
} Id;
typedef struct {
  MPI_Comm comm;
} Communicator;

typedef struct {
  int kind, number, behind, sums;
} Stream;
static int inGroup;
static Stream *ofGroup;

static void note(const char *what, size_t count, const char *more) {
  static FILE *file;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!file) {
    char path[1024];
    snprintf(path, sizeof(path), "%s.%d", getenv("FAKE_NOTES"), rank);
    file = fopen(path, "w");
  }
  fprintf(file, "%s %zu%s\n", what, count, more);
  fflush(file);
}

int ncclGetUniqueId(Id *id) {
  memset(id, 0, sizeof(*id));
  return MPI_Comm_rank(MPI_COMM_WORLD, (int *)id);
}
const char *ncclGetErrorString(int code) { return code == 5 ? "ranks differ" : "an error"; }
int ncclCommAbort(void *comm) { return !comm; }

int ncclCommInitRank(void **made, int ranks, Id id, int rank) {
  Communicator *communicator = malloc(sizeof(Communicator));
  int first, members, place;
  memcpy(&first, &id, sizeof(first));
  MPI_Comm_split(MPI_COMM_WORLD, first, rank, &communicator->comm);
  MPI_Comm_size(communicator->comm, &members);
  MPI_Comm_rank(communicator->comm, &place);
  *made = communicator;
  return members == ranks && place == rank ? 0 : 5;
}

static int together(const char *what, uint64_t count, const char *more, void *comm) {
  uint64_t range[] = {count, ~count}, most[2];
  note(what, count, more);
  MPI_Allreduce(range, most, 2, MPI_UINT64_T, MPI_MAX, ((Communicator *)comm)->comm);
  return most[0] == ~most[1] ? 0 : 5;
}
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream) {
  Stream *on = stream;
  if (!from || !to || type != 7 || op || !stream)
    return 4;
  char behind[32];
  snprintf(behind, sizeof(behind), " on %d behind %d%s", on->number, on->behind, on->sums ? "" : " first");
  if (!inGroup)
    on->behind = -1; // what comes next is to be ordered anew
  ofGroup = on;
  on->sums = 1;
  return together("all_reduce", count, behind, comm);
}
int ncclGroupStart(void) {
  inGroup = 1;
  return 0;
}
int ncclGroupEnd(void) {
  ofGroup->behind = -1;
  return inGroup = 0;
}
int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream) {
  return !from || !to || (type != 7 && type != 9) || !stream ? 4 : together("all_gather", count, "", comm);
}
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream) {
  return !from || !to || (type != 7 && type != 9) || op || !stream ? 4 : together("reduce_scatter", count, "", comm);
}
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream) {
  uint64_t *sent = malloc(sizeof(uint64_t));
  MPI_Request request;
  *sent = count;
  note("send", count, "");
  return !from || type || !stream ? 4
                                  : MPI_Isend(sent, 1, MPI_UINT64_T, peer, 0, ((Communicator *)comm)->comm, &request);
}
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream) {
  uint64_t sent = 0;
  note("receive", count, "");
  MPI_Recv(&sent, 1, MPI_UINT64_T, peer, 0, ((Communicator *)comm)->comm, MPI_STATUS_IGNORE);
  return !to || type || !stream ? 4 : sent == count ? 0 : 5;
}
